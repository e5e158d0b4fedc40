#include "support/interpreters.h"

#include <signal.h>
#include <sys/resource.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <stdexcept>

#include "environment/host.h"
#include "language/driver.h"
#include "session/prepare.h"
#include "support/sandbox.h"

namespace igloo::testing {

namespace asio = boost::asio;

sandbox::Plan PlanForInterpreter(const std::string& interpreter, environment::RunRequest more) {
  const language::Driver* driver = language::FindDriver(interpreter);
  if (driver == nullptr) throw std::logic_error("there is no driver for " + interpreter);
  // As the server makes it (service/recipes.cc).
  const auto host = environment::MakeHostEnvironment(interpreter == "bash" ? "shell" : interpreter,
                                                     environment::ReadHostLayout());
  more.what = environment::Driver{.text = std::string(driver->text),
                                  .file = std::string(driver->file),
                                  .program = std::string(driver->program)};
  more.time_ms = 0;
  more.extra_descriptors = language::kDescriptors;
  more.hand_out = true;
  return session::PlanFor(host.value(), more).value();
}

Interpreters::Interpreters(const std::string& interpreter, environment::RunRequest more)
    : interpreter_(interpreter),
      copier_(BuiltPrograms().copier),
      plan_(PlanForInterpreter(interpreter, std::move(more))),
      groups_(cgroup::Find()),
      backend_(BuiltPrograms(), backend::jail::Mode::kPrepared) {
  ::signal(SIGPIPE, SIG_IGN);
}

Interpreters::~Interpreters() {
  // What watched the descriptors of interpreters that are gone comes to its end.
  loop_.restart();
  loop_.poll();
}

void Interpreters::AllowOpenFiles(std::uint64_t most) {
  for (sandbox::ResourceLimit& limit : plan_.payload.limits) {
    if (limit.resource == RLIMIT_NOFILE) limit.value = most;
  }
}

void Interpreters::RunUntil(const std::function<bool()>& done) {
  loop_.restart();
  while (!done() && loop_.run_one() > 0) {
  }
}

Result<std::shared_ptr<session::Checkpoint>> Interpreters::MakeCheckpoint(
    std::vector<std::string> preload) {
  IGLOO_ASSIGN(auto group, session::TakeGroup(groups_, plan_, cgroup::OutOfMemory::kEndsOne));
  checkpoint_ = session::Checkpoint::Make(
      loop_, backend_, plan_,
      {.copier = copier_, .preload = std::move(preload), .group = std::move(group)});
  std::optional<Result<int>> made;
  const auto wait = [&]() -> asio::awaitable<void> {
    made = co_await checkpoint_->File(std::chrono::seconds(60));
  };
  asio::co_spawn(loop_, wait(), asio::detached);
  RunUntil([&] { return made.has_value(); });
  if (!*made) return std::unexpected(made->error());
  return checkpoint_;
}

std::unique_ptr<session::Interpreter> Interpreters::Open(From from) {
  error_.clear();
  session::InterpreterOptions options;
  auto group = session::TakeGroup(groups_, plan_, cgroup::OutOfMemory::kEndsOne);
  if (!group) {
    error_ = group.error().what;
    return nullptr;
  }
  options.group = *std::move(group);
  options.copier = copier_;
  if (from == From::kCheckpoint) {
    if (!checkpoint_) {
      if (auto made = MakeCheckpoint(); !made) error_ = made.error().what;
    }
    options.checkpoint = checkpoint_;
  }
  auto open = std::make_unique<session::Interpreter>(loop_, plan_, backend_, std::move(options));
  std::optional<Result<void>> started;
  const auto start = [&]() -> asio::awaitable<void> { started = co_await open->Start(); };
  asio::co_spawn(loop_, start(), asio::detached);
  RunUntil([&] { return started.has_value(); });
  if (*started) return open;
  error_ = started->error().what;
  return nullptr;
}

Result<session::CallResult> Interpreters::Execute(session::Interpreter& interpreter,
                                                  session::Interpreter::Call asked) {
  std::optional<Result<session::CallResult>> result;
  const auto call = [&]() -> asio::awaitable<void> {
    result = co_await interpreter.Execute(std::move(asked));
  };
  asio::co_spawn(loop_, call(), asio::detached);
  RunUntil([&] { return result.has_value(); });
  return *std::move(result);
}

Result<session::CallResult> Interpreters::Call(session::Interpreter& interpreter, std::string code,
                                               std::uint64_t time_ms) {
  return Execute(interpreter, {.code = std::move(code), .time_ms = time_ms});
}

std::unique_ptr<session::Interpreter> Interpreters::Fork(session::Interpreter& of) {
  auto fresh = Open(From::kCheckpoint);
  return fresh && Copy(of, *fresh) ? std::move(fresh) : nullptr;
}

bool Interpreters::Copy(session::Interpreter& of, session::Interpreter& into) {
  std::optional<Result<void>> copied;
  const auto copy = [&]() -> asio::awaitable<void> { copied = co_await of.CopyTo(into); };
  asio::co_spawn(loop_, copy(), asio::detached);
  RunUntil([&] { return copied.has_value(); });
  if (!*copied) error_ = copied->error().what;
  return copied->has_value();
}

std::string Interpreters::Say(session::Interpreter& interpreter, std::string code) {
  const auto result = Call(interpreter, std::move(code));
  if (!result) return "error: " + result.error().what;
  return result->output.kept() + result->error.kept();
}

}  // namespace igloo::testing
