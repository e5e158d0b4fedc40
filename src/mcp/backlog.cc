#include "mcp/backlog.h"

#include "mcp/pch.h"

namespace igloo::mcp {

namespace asio = boost::asio;

Backlog::Backlog(const asio::any_io_executor& executor, std::size_t most)
    : most_(most), room_(executor, asio::steady_timer::time_point::max()) {}

asio::awaitable<void> Backlog::WaitForRoom(Cancellation cancellation) {
  const auto self = shared_from_this();
  const auto hook = cancellation.OnRequest([self] { self->room_.cancel(); });
  // Whoever is woken looks again: another may have taken the room.
  while (full() && !cancellation.requested()) {
    boost::system::error_code ignored;
    auto token = asio::redirect_error(asio::use_awaitable, ignored);
    co_await room_.async_wait(token);
  }
}

void Backlog::GiveBack(std::size_t bytes) {
  bytes_ -= bytes;
  if (!full()) room_.cancel();
}

}  // namespace igloo::mcp
