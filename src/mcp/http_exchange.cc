#include "mcp/http_exchange.h"

#include "mcp/pch.h"

namespace igloo::mcp {

namespace asio = boost::asio;

asio::awaitable<std::optional<Outgoing>> HttpExchange::Next(
    std::chrono::steady_clock::duration patience) {
  const auto deadline = std::chrono::steady_clock::now() + patience;
  while (queue_.empty() && !gone_ && std::chrono::steady_clock::now() < deadline) {
    changed_.expires_at(deadline);
    boost::system::error_code ignored;
    auto token = asio::redirect_error(asio::use_awaitable, ignored);
    co_await changed_.async_wait(token);
  }
  if (queue_.empty()) co_return std::nullopt;
  Outgoing message = std::move(queue_.front());
  queue_.pop_front();
  queued_ -= message.text.size();
  co_return message;
}

}  // namespace igloo::mcp
