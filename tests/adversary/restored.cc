#include "restored.h"

#include <boost/json/serialize.hpp>
#include <boost/json/value_from.hpp>
#include <memory>
#include <optional>

#include "backend/jail/jail.h"
#include "environment/facts.h"
#include "environment/host.h"
#include "environment/run_policy.h"
#include "language/driver.h"
#include "session/asio.h"
#include "session/interpreter.h"
#include "session/warm/checkpoint.h"

namespace igloo::testing {
namespace {

namespace asio = boost::asio;

Outcome Refused(const Error& error) { return {.status = -1, .err = error.what}; }

/// Python that puts another program in its own place, with the signals as they were before Python
/// came to ignore some of them. JSON's lists of texts are Python's, too.
std::string Become(const std::vector<std::string>& argv) {
  return "import os, signal\n"
         "for each in signal.SIGPIPE, signal.SIGXFSZ: signal.signal(each, signal.SIG_DFL)\n"
         "argv = " +
         boost::json::serialize(boost::json::value_from(argv)) + "\nos.execv(argv[0], argv)\n";
}

asio::awaitable<Outcome> Execute(session::Interpreter& interpreter,
                                 session::Interpreter::Call call) {
  if (auto started = co_await interpreter.Start(); !started) co_return Refused(started.error());
  auto result = co_await interpreter.Execute(std::move(call));
  if (!result) co_return Refused(result.error());
  Outcome outcome{
      .status = result->exit_code, .out = result->output.kept(), .err = result->error.kept()};
  // An interpreter that lives to tell has not become another program.
  if (!result->lost_now) outcome.status = -1;
  co_return outcome;
}

}  // namespace

sandbox::Policy PolicyForRestored(const Scene& scene) {
  const auto environment =
      environment::MakeHostEnvironment("python", environment::ReadHostLayout()).value();
  const language::Driver* driver = language::FindDriver("python");
  return environment::PolicyForRun(
             environment, {.what = environment::Driver{.text = std::string(driver->text),
                                                       .file = std::string(driver->file),
                                                       .program = std::string(driver->program)},
                           .project = environment::Project{.path = scene.project()},
                           .extra_descriptors = language::kDescriptors})
      .value();
}

Outcome RunRestored(sandbox::Policy policy, const std::vector<std::string>& argv) {
  // The time of a call is the interpreter's to keep, not its init's.
  const std::uint64_t time_ms = std::exchange(policy.limits.time_ms, 0);
  const auto plan = sandbox::MakePlan(policy, environment::GatherFacts(sandbox::SourcesOf(policy)));
  if (!plan) return Refused(plan.error());
  const std::string bin = BinDirectory();
  backend::jail::JailBackend backend({bin + "/igloo-jail", bin + "/igloo-init"},
                                     backend::jail::Mode::kPrepared);
  asio::io_context loop(1);
  session::InterpreterOptions options;
  options.grace = std::chrono::milliseconds(policy.limits.grace_ms);
  options.checkpoint =
      session::Checkpoint::Make(loop, backend, *plan, {.copier = bin + "/igloo-copy"});
  std::optional<Outcome> outcome;
  {
    session::Interpreter interpreter(loop, *plan, backend, std::move(options));
    asio::co_spawn(
        loop,
        Execute(interpreter,
                {.code = Become(argv), .time_ms = time_ms, .manner = session::Manner::kQuiet}),
        [&](std::exception_ptr, Outcome value) {
          outcome = std::move(value);
          loop.stop();
        });
    loop.run();
  }
  // What watched its descriptors comes to its end.
  loop.restart();
  loop.poll();
  return *std::move(outcome);
}

}  // namespace igloo::testing
