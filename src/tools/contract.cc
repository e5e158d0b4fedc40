#include "tools/contract.h"

#include "base/scope_exit.h"
#include "base/text.h"
#include "mcp/pch.h"
#include "tools/ticker.h"

namespace igloo::tools {

namespace asio = boost::asio;

namespace {

service::Listener ListenWith(const std::shared_ptr<Ticker>& ticker) {
  return {.began = [ticker] { ticker->Begin(); },
          .heard = [ticker](std::string_view bytes) { ticker->Hear(bytes); }};
}

}  // namespace

asio::awaitable<void> AwaitSecrets(const Workshop& workshop, mcp::Call& call,
                                   std::shared_ptr<const service::Setup> setup,
                                   std::string environment) {
  if (!workshop.making.secrets || !setup->AwaitsSecrets(environment)) co_return;
  co_await workshop.making.secrets(std::move(setup), std::move(environment), call.cancellation());
}

asio::awaitable<std::shared_ptr<const service::Setup>> AwaitEnvironment(
    const Workshop& workshop, mcp::Call& call, std::shared_ptr<const service::Setup> setup,
    std::string_view environment, const service::Trace& trace) {
  co_await AwaitSecrets(workshop, call, setup, std::string(environment));
  const bool waits = setup->Find(environment) == nullptr && workshop.making.wait &&
                     call.facts().progress_token.has_value();
  if (!waits) co_return setup;
  const auto ticker = Ticker::Start(call, co_await asio::this_coro::executor, trace.came);
  const ScopeExit stop([&] { ticker->Stop(); });
  ticker->Begin();
  std::function<void(std::string_view)> said = [ticker](std::string_view line) {
    ticker->Hear(std::string(line) + "\n");
  };
  std::string name(environment);
  co_await workshop.making.wait(std::move(name), std::move(said), call.cancellation());
  co_return workshop.making.setup();
}

asio::awaitable<Result<service::Finished>> Execute(const Workshop& workshop, mcp::Call& call,
                                                   service::Sessions::Asked asked,
                                                   const service::Offered& environment,
                                                   std::shared_ptr<const service::Setup> setup,
                                                   service::Trace& trace) {
  trace.session = Quoted(asked.id);
  const auto ticker = Ticker::Start(call, co_await asio::this_coro::executor, trace.came);
  const ScopeExit stop([&] { ticker->Stop(); });
  auto finished = co_await workshop.sessions.Execute(
      std::move(asked), environment, std::move(setup), call.cancellation(), ListenWith(ticker));
  trace.Take(finished);
  co_return finished;
}

asio::awaitable<Result<service::Finished>> Execute(const Workshop& workshop, mcp::Call& call,
                                                   service::Order order, service::Trace& trace) {
  const auto ticker = Ticker::Start(call, co_await asio::this_coro::executor, trace.came);
  const ScopeExit stop([&] { ticker->Stop(); });
  auto finished =
      co_await workshop.runner.Execute(std::move(order), call.cancellation(), ListenWith(ticker));
  trace.Take(finished);
  co_return finished;
}

}  // namespace igloo::tools
