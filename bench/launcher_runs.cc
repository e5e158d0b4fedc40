#include "bench/launcher_runs.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/stat.h>

#include <cerrno>
#include <deque>

#include "base/clock.h"
#include "base/file.h"
#include "cli/run/execute.h"
#include "environment/facts.h"
#include "environment/host.h"
#include "environment/run_policy.h"
#include "session/asio.h"
#include "session/run.h"

namespace igloo::bench {

namespace asio = boost::asio;

struct LauncherRuns::State {
  State(backend::Programs programs, backend::jail::Mode mode, Timeline* line)
      : backend(std::move(programs), mode), timeline(line) {
    backend.set_timeline(line != nullptr);
  }
  asio::io_context loop{1};
  backend::jail::JailBackend backend;
  cgroup::Groups groups{cgroup::Find()};
  Timeline* timeline;
};

namespace {

/// The launcher's own start is long ago and its environment stands, so neither is a stage here.
Timeline::Marks MarksOf(const session::RunResult& result, std::int64_t begin, std::int64_t end) {
  const auto since = [&](std::uint64_t at) {
    return static_cast<double>(static_cast<std::int64_t>(at) - begin);
  };
  return {{"namespaces", since(result.timeline.namespaces)},
          {"exec", since(result.timeline.exec)},
          {"init", since(result.usage.stamps[0])},
          {"program", since(result.usage.stamps[1])},
          {"ended", since(result.usage.stamps[2])},
          {"report", static_cast<double>(end - begin)}};
}

}  // namespace

LauncherRuns::LauncherRuns(backend::Programs programs, backend::jail::Mode mode, Timeline* timeline)
    : state_(std::make_unique<State>(std::move(programs), mode, timeline)) {}

LauncherRuns::~LauncherRuns() = default;

Result<double> LauncherRuns::Once(const sandbox::Plan& plan) {
  std::optional<Result<session::RunResult>> result;
  std::int64_t end = 0;
  const std::int64_t begin = MonotonicMicros();
  session::RunIo io;
  IGLOO_ASSIGN(io.group, session::TakeGroup(state_->groups, plan));
  session::Run run(state_->loop, plan, state_->backend, std::move(io));
  asio::co_spawn(state_->loop, run.Execute(),
                 [&](std::exception_ptr, Result<session::RunResult> value) {
                   end = MonotonicMicros();
                   result = std::move(value);
                 });
  state_->loop.restart();
  state_->loop.run();
  if (!*result) return std::unexpected(std::move(*result).error());
  if ((*result)->exit_code != 0) {
    return Fail(Errc::kFailedPrecondition,
                fmt::format("the program ended with {}", (*result)->exit_code));
  }
  if (state_->timeline != nullptr) state_->timeline->Add(MarksOf(**result, begin, end));
  return static_cast<double>(end - begin);
}

Result<void> LauncherRuns::Idle(const sandbox::Plan& plan, unsigned count,
                                const std::function<void()>& look) {
  struct One {
    UniqueFd input = {}, output = {}, live = {};
    std::unique_ptr<session::Run> run = {};
    std::optional<Result<session::RunResult>> result = {};
  };
  std::deque<One> all;
  state_->loop.restart();
  for (unsigned i = 0; i < count; ++i) {
    IGLOO_ASSIGN(FdPair in, MakePipe());
    IGLOO_ASSIGN(FdPair out, MakePipe());
    One& one = all.emplace_back(One{.input = std::move(in.second),
                                    .output = std::move(out.first),
                                    .live = std::move(out.second)});
    IGLOO_TRY(WriteAll(one.input.get(), "up\n"));
    one.run = std::make_unique<session::Run>(
        state_->loop, plan, state_->backend,
        session::RunIo{.input = std::move(in.first), .live = {one.live.get(), -1}});
    asio::co_spawn(state_->loop, one.run->Execute(),
                   [&one](std::exception_ptr, Result<session::RunResult> value) {
                     one.result = std::move(value);
                   });
    const auto answered = [&one] {
      pollfd state{one.output.get(), POLLIN, 0};
      return ::poll(&state, 1, 0) == 1;
    };
    while (!one.result && !answered()) state_->loop.run_one();
    if (one.result && !*one.result) return std::unexpected(std::move(*one.result).error());
  }
  look();
  for (One& one : all) one.input.Reset();
  state_->loop.run();
  return {};
}

Result<FakeStore> FakeStore::Make(std::size_t packages) {
  IGLOO_ASSIGN(TempDir directory, TempDir::Make("/tmp"));
  FakeStore store(std::move(directory));
  for (std::size_t i = 0; i < packages; ++i) {
    std::string path = fmt::format("{}/{:032x}-pkg{}", store.directory_.path(), i, i);
    if (::mkdir(path.c_str(), 0755) != 0) {
      const int saved_errno = errno;
      return FailSys(saved_errno, "cannot make '" + path + "'");
    }
    store.sources_.push_back(std::move(path));
  }
  return store;
}

std::string FakeStore::TargetOf(const std::string& source) {
  return "/nix/store" + source.substr(source.rfind('/'));
}

Result<sandbox::Plan> PlanFor(const std::string& environment, std::vector<std::string> argv,
                              const FakeStore* store) {
  IGLOO_ASSIGN(const auto host,
               environment::MakeHostEnvironment(environment, environment::ReadHostLayout()));
  const environment::RunRequest request{.what = environment::Program{std::move(argv)}};
  IGLOO_ASSIGN(sandbox::Policy policy, environment::PolicyForRun(host, request));
  if (store != nullptr) {
    for (const std::string& source : store->sources()) {
      policy.environment.emplace_back(
          sandbox::HostTree{.source = source, .target = FakeStore::TargetOf(source)});
    }
  }
  return sandbox::MakePlan(policy, environment::GatherFacts(sandbox::SourcesOf(policy)));
}

}  // namespace igloo::bench
