#include "tools/contract.h"

#include "base/scope_exit.h"
#include "base/text.h"
#include "mcp/pch.h"
#include "tools/ticker.h"

namespace igloo::tools {

namespace asio = boost::asio;

namespace {

void Remember(const Result<Finished>& finished, Trace& trace) {
  if (!finished) {
    trace.verdict = "failed";
    trace.error = finished.error().what;
    return;
  }
  const session::RunResult& run = finished->run;
  trace.verdict = session::Name(run.verdict);
  trace.exit_code = run.exit_code;
  trace.queued_micros = finished->queued_micros;
  trace.run_micros = static_cast<std::int64_t>(run.usage.wall_micros);
  trace.cpu_micros = run.usage.cpu_micros;
  trace.peak_kib = run.usage.peak_kib;
  trace.output_bytes = run.output.total() + run.error.total();
}

void NameRawSockets(const std::string& environment, Result<Finished>& finished) {
  if (!finished) return;
  std::string hint = RawSocketsHint(environment, finished->run);
  if (!hint.empty()) finished->notes.push_back(std::move(hint));
}

bool CouldHaveRawSockets(const network::Wanted& wanted) {
  return wanted.level == network::Level::kInternet && !wanted.raw_sockets;
}

Listener ListenWith(const std::shared_ptr<Ticker>& ticker) {
  return {.began = [ticker] { ticker->Begin(); },
          .heard = [ticker](std::string_view bytes) { ticker->Hear(bytes); }};
}

}  // namespace

asio::awaitable<void> AwaitSecrets(const Workshop& workshop, mcp::Call& call,
                                   std::shared_ptr<const Setup> setup, std::string environment) {
  if (!workshop.making.secrets || !setup->AwaitsSecrets(environment)) co_return;
  co_await workshop.making.secrets(std::move(setup), std::move(environment), call.cancellation());
}

asio::awaitable<std::shared_ptr<const Setup>> AwaitEnvironment(const Workshop& workshop,
                                                               mcp::Call& call,
                                                               std::shared_ptr<const Setup> setup,
                                                               std::string_view environment,
                                                               const Trace& trace) {
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

asio::awaitable<Result<Finished>> Execute(const Workshop& workshop, mcp::Call& call,
                                          Sessions::Asked asked, const Offered& environment,
                                          std::shared_ptr<const Setup> setup, Trace& trace) {
  trace.session = Quoted(asked.id);
  const auto ticker = Ticker::Start(call, co_await asio::this_coro::executor, trace.came);
  const ScopeExit stop([&] { ticker->Stop(); });
  auto finished = co_await workshop.sessions.Execute(
      std::move(asked), environment, std::move(setup), call.cancellation(), ListenWith(ticker));
  if (CouldHaveRawSockets(environment.network)) NameRawSockets(environment.name, finished);
  Remember(finished, trace);
  co_return finished;
}

asio::awaitable<Result<Finished>> Execute(const Workshop& workshop, mcp::Call& call, Order order,
                                          Trace& trace) {
  const auto ticker = Ticker::Start(call, co_await asio::this_coro::executor, trace.came);
  const ScopeExit stop([&] { ticker->Stop(); });
  const bool could_have = CouldHaveRawSockets(order.request.network);
  const std::string environment = order.where.environment.name;
  auto finished =
      co_await workshop.runner.Execute(std::move(order), call.cancellation(), ListenWith(ticker));
  if (could_have) NameRawSockets(environment, finished);
  Remember(finished, trace);
  co_return finished;
}

}  // namespace igloo::tools
