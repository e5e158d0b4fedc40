#include "support/interpreters.h"

#include <signal.h>
#include <sys/resource.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <stdexcept>

#include "drivers/drivers.h"
#include "environment/host.h"
#include "session/prepare.h"
#include "support/sandbox.h"

namespace igloo::testing {

namespace asio = boost::asio;

sandbox::Plan PlanForInterpreter(const std::string& interpreter) {
  const drivers::Driver* driver = drivers::FindDriver(interpreter);
  if (driver == nullptr) throw std::logic_error("there is no driver for " + interpreter);
  // As the server makes it (tools/recipes.cc).
  const auto host = environment::MakeHostEnvironment(interpreter == "bash" ? "shell" : interpreter,
                                                     environment::ReadHostLayout());
  return session::PlanFor(host.value(),
                          {.what = environment::Driver{.text = std::string(driver->text),
                                                       .file = std::string(driver->file)},
                           .time_ms = 0,
                           .extra_descriptors = drivers::kDescriptors,
                           .hand_out = true})
      .value();
}

Interpreters::Interpreters(const std::string& interpreter)
    : interpreter_(interpreter),
      plan_(PlanForInterpreter(interpreter)),
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

Result<std::shared_ptr<session::Zygote>> Interpreters::StartZygote(
    std::vector<std::string> preload) {
  IGLOO_ASSIGN(
      session::Zygote zygote,
      session::Zygote::Start(backend_, plan_,
                             drivers::ZygoteFor(*drivers::FindDriver(interpreter_)), preload));
  zygote_ = std::make_shared<session::Zygote>(std::move(zygote));
  return zygote_;
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
  if (from == From::kZygote) {
    if (!zygote_) {
      if (auto started = StartZygote(); !started) error_ = started.error().what;
    }
    options.zygote = zygote_;
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

Result<session::CallResult> Interpreters::Once(session::Interpreter& interpreter,
                                               std::string code) {
  const std::string_view way = drivers::WayOf(*drivers::FindDriver(interpreter_), code);
  return Execute(
      interpreter,
      {.code = std::move(code), .time_ms = 30'000, .manner = session::Manner::kOnce, .way = way});
}

std::unique_ptr<session::Interpreter> Interpreters::Fork(session::Interpreter& of) {
  auto fresh = Open(From::kZygote);
  if (!fresh) return nullptr;
  std::optional<Result<void>> copied;
  const auto copy = [&]() -> asio::awaitable<void> { copied = co_await of.CopyTo(*fresh); };
  asio::co_spawn(loop_, copy(), asio::detached);
  RunUntil([&] { return copied.has_value(); });
  if (*copied) return fresh;
  error_ = copied->error().what;
  return nullptr;
}

std::string Interpreters::Say(session::Interpreter& interpreter, std::string code) {
  const auto result = Call(interpreter, std::move(code));
  if (!result) return "error: " + result.error().what;
  return result->output.kept() + result->error.kept();
}

}  // namespace igloo::testing
