#include "tools/sessions.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/clock.h"
#include "base/scope_exit.h"
#include "base/text.h"
#include "drivers/drivers.h"
#include "mcp/pch.h"

namespace igloo::tools {

namespace asio = boost::asio;
using Clock = std::chrono::steady_clock;

namespace {

constexpr auto kLook = std::chrono::seconds(5);

/// The interpreter of an environment, by the ending of its files.
const drivers::Driver* DriverOf(const environment::Environment& environment) {
  constexpr std::pair<std::string_view, std::string_view> kEndings[] = {
      {".py", "python"}, {".js", "node"}, {".sh", "bash"}};
  for (const auto& [ending, interpreter] : kEndings) {
    if (environment.code_file.ends_with(ending)) return drivers::FindDriver(interpreter);
  }
  return nullptr;
}

std::string HowItEnded(session::Verdict verdict, int exit_code) {
  switch (verdict) {
    case session::Verdict::kMemory:
      return "was killed for its memory";
    case session::Verdict::kTimeout:
      return "had to be killed at its time limit";
    case session::Verdict::kKilled:
    case session::Verdict::kInterrupted:
      return "had to be killed";
    case session::Verdict::kOutput:
      return "was killed because it wrote without end";
    default:
      return fmt::format("ended with exit code {}", exit_code);
  }
}

}  // namespace

struct Sessions::Living {
  Living(asio::io_context& loop, std::string of, SessionLimits its)
      : environment(std::move(of)), limits(its), turns(loop, 1) {}

  std::string environment;
  SessionLimits limits;
  std::unique_ptr<OpenInterpreter> open = {};
  bool started = false;
  Turns turns;
  session::Stamps stamps = {};
  std::vector<environment::GivenFile> given = {};
  std::uint64_t usual_time_ms = 0;
  Clock::time_point born = Clock::now(), used = born;

  bool busy() const { return turns.taken() > 0 || turns.waiting() > 0; }
};

Sessions::Sessions(asio::io_context& loop, Runner& runner, SessionLimits limits)
    : loop_(loop), runner_(runner), limits_(limits) {}

Error Sessions::TooMany() const {
  const auto idle = std::ranges::min_element(sessions_, {}, [](const auto& each) {
    return each.second->busy() ? Clock::time_point::max() : each.second->used;
  });
  const bool some = idle != sessions_.end() && !idle->second->busy();
  return {Errc::kExhausted, fmt::format("there are {} sessions already", sessions_.size()),
          some
              ? fmt::format("go on in one of them, such as '{}', which was used least recently, or "
                            "leave 'session' out",
                            Printable(idle->first))
              : "wait until one of them has ended, or leave 'session' out",
          0};
}

Result<std::shared_ptr<Sessions::Living>> Sessions::Find(const Asked& asked,
                                                         const Offered& environment,
                                                         const Setup& setup) {
  if (asked.id.empty() || asked.id.size() > 256 || ToUtf8(asked.id) != asked.id) {
    return Fail(Errc::kInvalidArgument, "'session' cannot be a session's name",
                "give it 1 to 256 bytes of text");
  }
  if (asked.code.find('\0') != std::string::npos) {
    return Fail(Errc::kInvalidArgument, "code in a session cannot hold NUL bytes",
                "write them as escapes");
  }
  const auto found = sessions_.find(asked.id);
  if (found == sessions_.end()) return Begin(asked, environment, setup);
  const std::shared_ptr<Living>& living = found->second;
  if (living->environment != environment.name) {
    return Fail(Errc::kInvalidArgument,
                fmt::format("session '{}' belongs to environment '{}', not '{}'",
                            Printable(asked.id), living->environment, environment.name),
                "use another session, or that environment");
  }
  if (!asked.files.empty()) {
    return Fail(Errc::kInvalidArgument, "files can be given with the first call of a session only",
                "let the code write them, or begin another session");
  }
  return living;
}

Result<std::shared_ptr<Sessions::Living>> Sessions::Begin(const Asked& asked,
                                                          const Offered& environment,
                                                          const Setup& setup) {
  Reap(Clock::now());
  if (sessions_.size() >= limits_.most) return std::unexpected(TooMany());
  IGLOO_ASSIGN(Order order, setup.OrderFor(environment.name, {}));
  const drivers::Driver* driver = DriverOf(order.where.environment);
  if (driver == nullptr || order.where.backend != config::Backend::kJail) {
    return Fail(Errc::kFailedPrecondition,
                fmt::format("environment '{}' has no sessions", environment.name),
                "leave 'session' out; every call then starts afresh");
  }
  auto living = std::make_shared<Living>(loop_, environment.name, limits_);
  living->usual_time_ms = environment.limits.time_ms;
  order.request.what = environment::Code{std::string(driver->text)};
  order.request.time_ms = 0;
  order.request.extra_descriptors = 1;
  order.request.hand_out = true;
  order.request.files = living->given = asked.files;
  IGLOO_ASSIGN(living->open, runner_.Open(order));
  sessions_.emplace(asked.id, living);
  if (clock_ == nullptr) {
    clock_ = std::make_unique<asio::steady_timer>(loop_);
    asio::co_spawn(loop_, Watch(), asio::detached);
  }
  return living;
}

asio::awaitable<Result<Finished>> Sessions::Execute(Asked asked, const Offered& environment,
                                                    std::shared_ptr<const Setup> setup,
                                                    mcp::Cancellation cancellation,
                                                    Listener listener) {
  auto found = Find(asked, environment, *setup);
  if (!found) co_return std::unexpected(std::move(found).error());
  const std::shared_ptr<Living> living = *std::move(found);
  const std::int64_t came = MonotonicMicros();
  co_await living->turns.Take(cancellation);
  const ScopeExit leaving([&] {
    living->used = Clock::now();
    living->turns.GiveBack();
  });
  if (cancellation.requested()) co_return Fail(Errc::kTimeout, "the call was cancelled");
  const std::int64_t queued = MonotonicMicros() - came;
  if (listener.began) listener.began();
  session::Interpreter& interpreter = *living->open->interpreter;
  const auto forget = [&](const Error& error) {
    const auto here = sessions_.find(asked.id);
    if (here != sessions_.end() && here->second == living) sessions_.erase(here);
    Error said = error;
    said.what = fmt::format("session '{}' is gone, with its variables and files: {}",
                            Printable(asked.id), error.what);
    said.hint = "the next call with this name begins anew";
    return said;
  };
  if (!std::exchange(living->started, true)) {
    const auto started = co_await interpreter.Start();
    if (!started) co_return std::unexpected(forget(started.error()));
    if (cancellation.requested()) co_return Fail(Errc::kTimeout, "the call was cancelled");
  }
  const auto hook = cancellation.OnRequest([&] { interpreter.Interrupt(); });
  session::Interpreter::Call call{.code = std::move(asked.code),
                                  .time_ms = asked.time_ms.value_or(living->usual_time_ms),
                                  .echo = asked.echo,
                                  .heard = std::move(listener.heard)};
  const std::uint64_t time_ms = call.time_ms;
  auto result = co_await interpreter.Execute(std::move(call));
  if (!result) co_return std::unexpected(forget(result.error()));
  Finished finished = Describe(*living, *std::move(result), time_ms);
  finished.session = asked.id;
  finished.queued_micros = queued;
  const int workspace = interpreter.workspace();
  if (workspace >= 0) {
    const session::LeftLimits& limits = runner_.left_limits();
    finished.left = co_await ReadInSlices(workspace, living->given, limits, &living->stamps);
  }
  co_return finished;
}

Finished Sessions::Describe(Living& living, session::CallResult result, std::uint64_t time_ms) {
  Finished finished{.looked_for_files = true,
                    .time_limit_ms = time_ms,
                    .memory_limit_bytes = living.open->plan.payload.memory_bytes,
                    .value = std::move(result.value),
                    .parts = std::move(result.parts)};
  if (result.lost_before) {
    finished.notes.push_back(
        fmt::format("variables were lost, files were kept: the interpreter {} in an earlier call",
                    HowItEnded(result.lost_before->verdict, result.lost_before->exit_code)));
  }
  if (result.lost_now) {
    finished.notes.push_back(fmt::format(
        "variables are lost, files are kept: the interpreter {}; the next call begins a new one",
        HowItEnded(result.verdict, result.exit_code)));
  } else if (result.verdict == session::Verdict::kTimeout) {
    finished.notes.emplace_back("variables are kept: the code was interrupted");
  }
  for (const auto* late : {&result.late_output, &result.late_error}) {
    if (late->total() == 0) continue;
    finished.notes.push_back(fmt::format("since the last call something printed: {}",
                                         Printable(late->kept().substr(0, 1000))));
  }
  finished.run.verdict = result.verdict;
  finished.run.exit_code = result.exit_code;
  finished.run.signal = result.signal;
  finished.run.output = std::move(result.output);
  finished.run.error = std::move(result.error);
  finished.run.usage.wall_micros = static_cast<std::uint64_t>(result.wall_micros);
  return finished;
}

std::optional<std::string> Sessions::EnvironmentOf(std::string_view id) const {
  const auto found = sessions_.find(id);
  if (found == sessions_.end()) return std::nullopt;
  return found->second->environment;
}

void Sessions::Reap(Clock::time_point now) {
  std::erase_if(sessions_, [&](const auto& each) {
    const Living& living = *each.second;
    return !living.busy() &&
           (now - living.used > living.limits.idle || now - living.born > living.limits.lifetime);
  });
}

asio::awaitable<void> Sessions::Watch() {
  while (!sessions_.empty()) {
    clock_->expires_after(kLook);
    boost::system::error_code error;
    auto token = asio::redirect_error(asio::use_awaitable, error);
    co_await clock_->async_wait(token);
    if (error) co_return;
    Reap(Clock::now());
  }
  clock_.reset();
}

void Sessions::Close() {
  for (const auto& each : sessions_) each.second->turns.Close();
  sessions_.clear();
  clock_.reset();
}

}  // namespace igloo::tools
