#include "tools/turns.h"

#include <algorithm>

#include "mcp/pch.h"

namespace igloo::tools {

namespace asio = boost::asio;

asio::awaitable<void> Turns::Take(Cancellation cancellation) {
  if (taken_ < at_once_ && waiting_.empty()) {
    ++taken_;
    co_return;
  }
  asio::steady_timer turn(loop_, asio::steady_timer::time_point::max());
  const auto place = waiting_.insert(waiting_.end(), &turn);
  const auto hook = cancellation.OnRequest([&] { turn.cancel(); });
  boost::system::error_code ignored;
  auto token = asio::redirect_error(asio::use_awaitable, ignored);
  co_await turn.async_wait(token);
  // GiveBack has taken us off the list and counted us; a cancelled call has to do both itself.
  const bool called = std::ranges::find(waiting_, &turn) == waiting_.end();
  if (!called) {
    waiting_.erase(place);
    ++taken_;
  }
}

void Turns::GiveBack() {
  --taken_;
  while (taken_ < at_once_ && !waiting_.empty()) {
    asio::steady_timer* next = waiting_.front();
    waiting_.pop_front();
    ++taken_;
    next->cancel();
  }
}

}  // namespace igloo::tools
