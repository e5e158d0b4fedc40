#include "cli/run/execute.h"

#include <boost/asio/signal_set.hpp>
#include <csignal>
#include <exception>
#include <optional>

#include "cli/commands.h"
#include "cli/net/network_monitor.h"
#include "session/asio.h"

namespace igloo::cli {
namespace {

namespace asio = boost::asio;

asio::awaitable<void> WatchSignals(asio::signal_set& signals, session::Run& run) {
  for (bool first = true;; first = false) {
    boost::system::error_code error;
    auto token = asio::redirect_error(asio::use_awaitable, error);
    const int signal = co_await signals.async_wait(token);
    if (error) co_return;
    if (first && signal == SIGINT) {
      run.Interrupt();
    } else {
      run.Kill();
    }
  }
}

/// Made on the loop that the run gets; null: nobody looks after its network.
using MakeMonitor = std::function<std::unique_ptr<NetworkMonitor>(asio::io_context&)>;

Result<session::RunResult> RunOnLoop(const sandbox::Plan& plan, backend::Backend& backend,
                                     session::RunIo io, Signals signals, const MakeMonitor& make) {
  asio::io_context loop(1);
  const std::unique_ptr<NetworkMonitor> monitor = make ? make(loop) : nullptr;
  if (monitor) monitor->Attend(io);
  session::Run run(loop, plan, backend, std::move(io));
  if (monitor) monitor->Serve(run);
  asio::signal_set watched(loop);
  if (signals == Signals::kForward) {
    for (const int signal : {SIGINT, SIGTERM, SIGHUP}) watched.add(signal);
    asio::co_spawn(loop, WatchSignals(watched, run), asio::detached);
  }
  std::optional<Result<session::RunResult>> result;
  asio::co_spawn(loop, run.Execute(),
                 [&](const std::exception_ptr& thrown, Result<session::RunResult> value) {
                   // An exception leaves an empty value, which would read as success.
                   if (thrown) std::rethrow_exception(thrown);
                   result = std::move(value);
                   loop.stop();
                 });
  loop.run();
  // While they are still caught.
  if (signals == Signals::kForward) HoldEndSignals();
  return *std::move(result);
}

}  // namespace

void HoldEndSignals() {
  sigset_t end;
  ::sigemptyset(&end);
  ::sigaddset(&end, SIGHUP);
  ::sigaddset(&end, SIGTERM);
  ::sigprocmask(SIG_BLOCK, &end, nullptr);
}

int ExitCodeFor(const Error& error) {
  if (error.code == Errc::kNoProgram) return kExitNotFound;
  return error.code == Errc::kNotExecutable ? kExitNotExecutable : kExitFailed;
}

namespace {

Result<session::RunResult> TryOnLoop(const sandbox::Plan& plan, backend::Backend& backend,
                                     session::RunIo io, Signals signals, const MakeMonitor& make) {
  try {
    return RunOnLoop(plan, backend, std::move(io), signals, make);
  } catch (const std::exception& failure) {
    return Fail(Errc::kExhausted, std::string("cannot run the event loop: ") + failure.what(),
                "raise the limit on open files: ulimit -n 1024");
  }
}

}  // namespace

Result<session::RunResult> Execute(const sandbox::Plan& plan, backend::Backend& backend,
                                   session::RunIo io, Signals signals) {
  return TryOnLoop(plan, backend, std::move(io), signals, {});
}

Result<session::RunResult> ExecuteMonitored(const sandbox::Plan& plan, backend::Backend& backend,
                                            session::RunIo io, const config::AuditConfig& audit,
                                            Log::Line say) {
  const bool connected = io.network && io.network->wanted.connected();
  const auto make = [&](asio::io_context& loop) {
    return std::make_unique<NetworkMonitor>(loop, audit, say);
  };
  return TryOnLoop(plan, backend, std::move(io), Signals::kForward,
                   connected ? MakeMonitor(make) : MakeMonitor());
}

}  // namespace igloo::cli
