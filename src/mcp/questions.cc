#include "mcp/questions.h"

#include <fmt/format.h>

#include "base/random.h"
#include "mcp/pch.h"

namespace igloo::mcp {

namespace asio = boost::asio;

struct Questions::Waiting {
  explicit Waiting(const asio::any_io_executor& executor) : answered(executor) {
    answered.expires_at(asio::steady_timer::time_point::max());
  }
  asio::steady_timer answered;  ///< cancelled when the answer is there
  Answer<Json> answer = Refuse(RpcCode::kInternalError, "the question was withdrawn");
};

Questions::Questions() : secret_(RandomName()) {}

asio::awaitable<Answer<Json>> Questions::Ask(Channel& channel, Cancellation cancellation,
                                             std::string method, JsonObject params) {
  const asio::any_io_executor executor = co_await asio::this_coro::executor;
  const auto waiting = std::make_shared<Waiting>(executor);
  const RequestId id{fmt::format("{}-{}", secret_, next_++)};
  waiting_.emplace(id, waiting);
  const auto hook = cancellation.OnRequest([waiting] { waiting->answered.cancel(); });
  channel.Send(Pack(RequestMessage(id, method, std::move(params))));
  boost::system::error_code ignored;
  auto token = asio::redirect_error(asio::use_awaitable, ignored);
  if (!cancellation.requested()) co_await waiting->answered.async_wait(token);
  waiting_.erase(id);
  co_return std::move(waiting->answer);
}

bool Questions::Resolve(Response response) {
  const auto found = waiting_.find(response.id);
  if (found == waiting_.end()) return false;
  found->second->answer = std::move(response.result);
  found->second->answered.cancel();
  waiting_.erase(found);
  return true;
}

}  // namespace igloo::mcp
