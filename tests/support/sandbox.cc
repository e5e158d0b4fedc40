#include "support/sandbox.h"

#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <optional>
#include <stdexcept>

#include "base/file.h"
#include "environment/facts.h"
#include "environment/host.h"
#include "session/asio.h"
#include "support/igloo.h"

namespace igloo::testing {
namespace {

namespace asio = boost::asio;
using RunOutcome = Result<session::RunResult>;

constexpr auto kPatience = std::chrono::seconds(40);

/// Runs the loop until `done`; false when it took too long.
bool Drive(asio::io_context& loop, const std::function<bool()>& done) {
  const auto end = std::chrono::steady_clock::now() + kPatience;
  while (!done()) {
    if (std::chrono::steady_clock::now() >= end) return false;
    if (loop.stopped()) loop.restart();
    loop.run_one_for(std::chrono::milliseconds(50));
  }
  return true;
}

template <class T>
T Must(Result<T> result) {
  if (!result) throw std::runtime_error(result.error().what + "; " + result.error().hint);
  return *std::move(result);
}

}  // namespace

std::string LeasesPlace() {
  const char* runtime = std::getenv("XDG_RUNTIME_DIR");
  return runtime != nullptr ? std::string(runtime) + "/igloo/ids" : "";
}

backend::Programs BuiltPrograms() {
  return {.jail = BinDirectory() + "/igloo-jail",
          .init = BinDirectory() + "/igloo-init",
          .copier = BinDirectory() + "/igloo-copy",
          .leases = LeasesPlace()};
}

sandbox::Plan PlanFor(std::string_view name, const environment::RunRequest& request,
                      const Adjust& adjust) {
  const auto environment =
      Must(environment::MakeHostEnvironment(name, environment::ReadHostLayout()));
  sandbox::Policy policy = Must(environment::PolicyForRun(environment, request));
  if (adjust) adjust(policy);
  return Must(sandbox::MakePlan(policy, environment::GatherFacts(sandbox::SourcesOf(policy))));
}

sandbox::Plan PlanForShell(std::string code, const Adjust& adjust) {
  return PlanFor("shell", {.what = environment::Code{std::move(code)}}, adjust);
}

sandbox::Plan PlanForProgram(std::vector<std::string> argv, const Adjust& adjust) {
  return PlanFor("shell", {.what = environment::Program{std::move(argv)}}, adjust);
}

struct Workbench::State {
  State(backend::jail::Mode mode, backend::Programs programs)
      : backend(std::move(programs), mode) {}
  asio::io_context loop{1};
  backend::jail::JailBackend backend;
};

Workbench::Workbench(backend::jail::Mode mode, backend::Programs programs)
    : state_(std::make_unique<State>(mode, std::move(programs))) {
  ::signal(SIGPIPE, SIG_IGN);
}

Workbench::~Workbench() = default;

backend::jail::JailBackend& Workbench::backend() { return state_->backend; }

RunOutcome Workbench::Run(const sandbox::Plan& plan) {
  return std::move(RunTogether({plan}).front());
}

std::vector<RunOutcome> Workbench::RunTogether(const std::vector<sandbox::Plan>& plans) {
  std::vector<std::unique_ptr<session::Run>> runs;
  std::vector<std::optional<RunOutcome>> ended(plans.size());
  std::size_t left = plans.size();
  for (std::size_t i = 0; i < plans.size(); ++i) {
    runs.push_back(
        std::make_unique<session::Run>(state_->loop, plans[i], state_->backend, session::RunIo{}));
    asio::co_spawn(state_->loop, runs.back()->Execute(),
                   [&ended, &left, i](std::exception_ptr, RunOutcome value) {
                     ended[i] = std::move(value);
                     --left;
                   });
  }
  const bool all = Drive(state_->loop, [&] { return left == 0; });
  runs.clear();
  // The coroutines of ended runs hear of their closed descriptors.
  if (state_->loop.stopped()) state_->loop.restart();
  state_->loop.poll();
  if (!all) throw std::runtime_error("a run did not end");
  std::vector<RunOutcome> results;
  for (auto& each : ended) results.push_back(*std::move(each));
  return results;
}

struct LiveRun::State {
  State(Workbench::State& b, const sandbox::Plan& plan, FdPair pipe)
      : bench(b),
        input(std::move(pipe.second)),
        run(b.loop, plan, b.backend, {.input = std::move(pipe.first), .live = {sink.get(), -1}}) {}

  /// What has come so far.
  std::string Output() const {
    ::lseek(sink.get(), 0, SEEK_SET);
    std::string text = ReadAll(sink.get(), 64U << 20).value();
    ::lseek(sink.get(), 0, SEEK_END);
    return text;
  }

  Workbench::State& bench;
  UniqueFd sink{::memfd_create("output", MFD_CLOEXEC)};
  UniqueFd input;
  std::string output = {};
  std::optional<RunOutcome> ended = {};
  session::Run run;
};

LiveRun::LiveRun(Workbench& bench, const sandbox::Plan& plan)
    : state_(std::make_unique<State>(*bench.state_, plan, MakePipe().value())) {
  asio::co_spawn(bench.state_->loop, state_->run.Execute(),
                 [state = state_.get()](std::exception_ptr, RunOutcome value) {
                   state->ended = std::move(value);
                 });
}

LiveRun::~LiveRun() {
  state_->run.Kill();
  state_->input.Reset();
  Drive(state_->bench.loop, [&] { return state_->ended.has_value(); });
}

void LiveRun::Write(std::string_view text) { (void)WriteAll(state_->input.get(), text); }

bool LiveRun::WaitForOutput(std::string_view text) {
  const auto there = [&] { return state_->Output().find(text) != std::string::npos; };
  Drive(state_->bench.loop, [&] { return there() || state_->ended; });
  return there();
}

const std::string& LiveRun::output() const { return state_->output = state_->Output(); }

RunOutcome LiveRun::Finish() {
  state_->input.Reset();
  if (!Drive(state_->bench.loop, [&] { return state_->ended.has_value(); })) {
    throw std::runtime_error("a run did not end");
  }
  return *std::move(state_->ended);
}

}  // namespace igloo::testing
