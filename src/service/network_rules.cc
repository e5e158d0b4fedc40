#include "service/network_rules.h"

#include <fmt/format.h>

#include <memory>
#include <optional>
#include <utility>

#include "base/text.h"
#include "session/asio.h"
#include "session/network/connection.h"

namespace igloo::service {

namespace asio = boost::asio;

namespace {

asio::awaitable<Result<std::string>> AllowMore(session::Proxy& proxy, std::string sandbox,
                                               std::string rule, Lasting lasting) {
  session::Connection* connection = proxy.Find(sandbox);
  if (connection == nullptr) {
    co_return Fail(Errc::kNotFound,
                   fmt::format("no sandbox '{}' has a network", Printable(Quoted(sandbox))));
  }
  using Duration = session::Connection::Duration;
  // Shared with the answer, which may come when nobody waits any more.
  struct Waiting {
    explicit Waiting(const asio::any_io_executor& executor)
        : come(executor, asio::steady_timer::time_point::max()) {}
    asio::steady_timer come;
    std::optional<Result<void>> answer = {};
  };
  const auto waiting = std::make_shared<Waiting>(co_await asio::this_coro::executor);
  connection->Allow(rule, lasting == Lasting::kOnce ? Duration::kOnce : Duration::kSession,
                    [waiting](Result<void> done) {
                      waiting->answer = std::move(done);
                      waiting->come.cancel();
                    });
  if (!waiting->answer) {
    boost::system::error_code ignored;
    auto token = asio::redirect_error(asio::use_awaitable, ignored);
    co_await waiting->come.async_wait(token);
  }
  if (!waiting->answer) co_return Fail(Errc::kTimeout, "the proxy did not answer");
  if (!*waiting->answer) co_return std::unexpected(waiting->answer->error());
  co_return std::string();
}

}  // namespace

AllowRule AllowIn(session::Proxy& proxy) {
  return [&proxy](std::string sandbox, std::string rule, Lasting lasting) {
    return AllowMore(proxy, std::move(sandbox), std::move(rule), lasting);
  };
}

}  // namespace igloo::service
