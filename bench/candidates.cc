#include "bench/candidates.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <deque>
#include <optional>

#include "bench/artifacts.h"
#include "bench/boxes.h"
#include "bench/launcher_runs.h"
#include "bench/mcp.h"
#include "bench/network.h"
#include "bench/output.h"
#include "bench/process.h"
#include "bench/ready.h"
#include "bench/stopwatch.h"
#include "environment/run_policy.h"
#include "service/programs.h"
#include "session/prepare.h"

namespace igloo::bench {
namespace {

constexpr const char* kPython = "/usr/bin/python3";
const Words kTrue = {"/bin/true"};
constexpr std::size_t kUsuallyReady = 4;  // as a server keeps at most
constexpr unsigned kForksEvery = 2;
constexpr unsigned kCalls = 100;  // of which a sample is the median

Once Spawning(Command command) {
  return [command = std::move(command)]() -> Result<double> {
    IGLOO_ASSIGN(const ProcessRun run, RunSpawned(command));
    return run.micros();
  };
}

}  // namespace

struct Field::Shared {
  Shared(backend::Programs found, Ground made)
      : programs(std::move(found)),
        ground(std::move(made)),
        prepared(programs, backend::jail::Mode::kPrepared),
        timed(programs, backend::jail::Mode::kPrepared, &prepared_timeline),
        cold(programs, backend::jail::Mode::kCold) {}

  backend::Programs programs;
  Ground ground;
  std::deque<FakeStore> stores = {};  // candidates point to elements
  std::deque<FakeArtifacts> artifacts = {};
  std::deque<environment::Environment> environments = {};
  std::deque<sandbox::Plan> plans = {};  // the same
  Timeline one_shot_timeline = {}, prepared_timeline = {};
  Samples output_peak = {};
  LauncherRuns prepared, timed, cold;
  std::optional<McpServers> mcp = {};
  std::optional<NetworkRuns> network = {};
  std::optional<BoxRuns> boxes = {};
  std::deque<ReadyRuns> ready = {};  // two of each language; candidates point to elements
  std::optional<ReadyRuns> session = {};
  std::deque<ReadyRuns> forks = {};  // the same; one for each amount of data
  PythonLoop python_loop = {};
};

Field::Field(std::unique_ptr<Shared> shared) : shared_(std::move(shared)) {}
Field::~Field() = default;

Result<std::unique_ptr<Field>> Field::Make(std::string cache, Words mcp) {
  IGLOO_ASSIGN(const auto programs, service::FindPrograms());
  IGLOO_ASSIGN(Ground ground,
               Ground::Make(programs.jail.substr(0, programs.jail.rfind('/')), std::move(cache)));
  std::unique_ptr<Field> field(new Field(std::make_unique<Shared>(programs, std::move(ground))));
  field->AddPrograms();
  IGLOO_TRY(field->AddPeers());
  IGLOO_TRY(field->AddLauncher());
  IGLOO_TRY(field->AddStore(100, 2));
  IGLOO_TRY(field->AddStore(300, 5));
  IGLOO_TRY(field->AddStore(600, 5));
  for (const std::size_t packages : {10, 100, 600}) field->AddClosure(packages);
  field->AddArtifacts();
  field->AddNetwork();
  field->AddBoxes();
  field->AddReady();
  field->AddOutput();
  field->AddMcp(std::move(mcp));
  return field;
}

Result<void> Field::AddPeers() {
  for (const Peer& peer : Peers()) {
    Candidate& added = candidates_.emplace_back(
        Candidate{.key = std::string(peer.key),
                  .name = std::string(peer.name),
                  .against = "bwrap",
                  .every = peer.every,
                  .group = peer.key == "one_shot" ? Group::kIgloo : Group::kPeer});
    const std::string program = FindProgram(peer, shared_->ground);
    if (program.empty()) {
      added.failure = "not installed; get it with: " + std::string(peer.install);
      continue;
    }
    IGLOO_ASSIGN(Command command, peer.command(program, shared_->ground, kTrue));
    added.once = Spawning(std::move(command));
  }
  return {};
}

void Field::AddPrograms() {
  const std::string igloo = shared_->ground.programs() + "/igloo";
  const auto running = [&](Words words) {
    words.insert(words.begin(), {igloo, "run", "--env", "shell"});
    words.insert(words.end(), {"--", "/usr/bin/true"});
    return Command{words};
  };
  const auto add = [&](std::string key, std::string name, Once once) {
    candidates_.push_back({.key = std::move(key),
                           .name = std::move(name),
                           .against = "bwrap",
                           .once = std::move(once)});
  };
  add("T", "fork + exec /bin/true (T)", []() -> Result<double> {
    IGLOO_ASSIGN(const ProcessRun forked, RunForked(kTrue));
    return forked.micros();
  });
  add("spawn", "posix_spawn /bin/true", Spawning({kTrue}));
  add("version", "igloo --version", Spawning({{igloo, "--version"}}));
  add("env_list", "igloo env list", Spawning({{igloo, "env", "list"}}));
  add("one_shot_report", "igloo run, to init's report",
      [this, command = running({"--timing"})]() -> Result<double> {
        IGLOO_ASSIGN(const ProcessRun timed, RunSpawned(command));
        return shared_->one_shot_timeline.Add(timed);
      });
  add("one_shot_allow", "igloo run --network allow",
      Spawning(running({"--network", "allow", "--allow", "example.com"})));
  add("one_shot_bubblewrap", "igloo run --backend bubblewrap",
      Spawning(running({"--backend", "bubblewrap"})));
}

/// `cat` does what igloo must at least do: take the bytes from one pipe and put them into another.
void Field::AddOutput() {
  const auto add = [&](std::string key, std::string name, Result<Command> command,
                       Samples* peak = nullptr) {
    Candidate& added = candidates_.emplace_back(
        Candidate{.key = std::move(key), .name = std::move(name), .every = 8});
    if (!command) {
      added.failure = command.error().what;
      return;
    }
    added.once = [command = *std::move(command), peak]() -> Result<double> {
      IGLOO_ASSIGN(const OutputRun run, RunOutput(command));
      if (peak != nullptr) peak->Add(run.peak_kib);
      return run.micros;
    };
  };
  add("output_direct", "1 GB to a pipe", Command{OutputWords()});
  add("output_cat", "1 GB through cat",
      Command{{"/bin/sh", "-c", fmt::format("head -c {} /dev/zero | cat", kOutputBytes)}});
  add("output_igloo", "1 GB through igloo run", Through("one_shot", shared_->ground, OutputWords()),
      &shared_->output_peak);
}

void Field::AddMcp(Words server) {
  if (server.empty()) server = {shared_->ground.programs() + "/igloo", "mcp"};
  McpServers& servers = shared_->mcp.emplace(shared_->ground, Command{std::move(server)});
  for (Candidate& each : servers.Candidates()) candidates_.push_back(std::move(each));
}

Result<void> Field::AddLauncher() {
  const auto through = [](LauncherRuns& runs, const sandbox::Plan& plan) {
    return [&runs, &plan] { return runs.Once(plan); };
  };
  IGLOO_ASSIGN(sandbox::Plan plan, PlanFor("shell", {"/usr/bin/true"}));
  const sandbox::Plan& program = shared_->plans.emplace_back(std::move(plan));
  candidates_.push_back({.key = "prepared",
                         .name = "igloo, running launcher",
                         .against = "bwrap",
                         .group = Group::kIgloo,
                         .once = through(shared_->prepared, program)});
  candidates_.push_back({.key = "prepared_timing",
                         .name = "the same with its timeline",
                         .against = "bwrap",
                         .once = through(shared_->timed, program)});
  candidates_.push_back({.key = "cold",
                         .name = "running launcher, not prepared",
                         .against = "bwrap",
                         .once = through(shared_->cold, program)});
  if (::access(kPython, X_OK) != 0) return {};
  const Words print = {kPython, "-c", "print(1)"};
  candidates_.push_back(
      {.key = "python", .name = "python print(1), direct", .once = Spawning({print})});
  IGLOO_ASSIGN(sandbox::Plan python, PlanFor("python", print));
  candidates_.push_back(
      {.key = "python_prepared",
       .name = "python print(1), prepared",
       .once = through(shared_->prepared, shared_->plans.emplace_back(std::move(python)))});
  return {};
}

/// Code in a fresh sandbox whose interpreter has waited for it, beside one that is started.
void Field::AddReady() {
  const auto add = [&](std::string key, std::string name, Once once) -> Candidate& {
    return candidates_.emplace_back(
        Candidate{.key = std::move(key), .name = std::move(name), .once = std::move(once)});
  };
  for (const Language& each : Languages()) {
    if (::access(each.program, X_OK) != 0) continue;
    const std::string cold = fmt::format("bwrap_{}", each.key);
    // One waits at once, so that nothing is made beside a sample.
    ReadyRuns& runs =
        shared_->ready.emplace_back(shared_->programs, each, ReadyRuns::Of::kPrograms, 1);
    Candidate& ready =
        add(fmt::format("ready_{}", each.key), fmt::format("fresh {}, ready", each.name),
            [&runs] { return runs.Fresh(); });
    ready.against = cold;
    ready.one_of_many = true;
    ReadyRuns& long_ready =
        shared_->ready.emplace_back(shared_->programs, each, ReadyRuns::Of::kPrograms, 1);
    add(fmt::format("long_ready_{}", each.key), fmt::format("fresh {}, ready for long", each.name),
        [&long_ready] { return long_ready.Fresh(); })
        .against = cold;
    Candidate& peer = add(cold, fmt::format("fresh {}, bwrap", each.name), {});
    peer.one_of_many = true;
    if (auto command = Through("bwrap", shared_->ground, each.cold())) {
      peer.once = Spawning(*std::move(command));
    } else {
      peer.failure = command.error().what;
    }
  }
  const Language& python = Languages().front();
  if (::access(python.program, X_OK) != 0) return;
  ReadyRuns& session =
      shared_->session.emplace(shared_->programs, python, ReadyRuns::Of::kSessions, 1);
  PythonLoop& loop = shared_->python_loop;
  add("session_call", "a call in a Python session", [&session] { return session.Call(kCalls); });
  add("session_loop", "a call of a bare Python loop", [&loop] { return loop.Call(kCalls); });
  add("session_call_idle", "one alone in a Python session", [&session] { return session.Call(1); });
  add("session_loop_idle", "one alone of a bare loop", [&loop] { return loop.Call(1); });
  for (const unsigned megabytes : {1U, 200U}) {
    ReadyRuns& forks =
        shared_->forks.emplace_back(shared_->programs, python, ReadyRuns::Of::kSessions, 1);
    const std::string key = fmt::format("fork_{}mb", megabytes);
    const std::string name = fmt::format("fork of a Python session with {} MB", megabytes);
    add(key, name, [&forks, megabytes] {
      return forks.Fork(megabytes, ReadyRuns::Until::kFirstCall);
    }).every = kForksEvery;
    add(key + "_whole", name + ", whole", [&forks, megabytes] {
      return forks.Fork(megabytes, ReadyRuns::Until::kWhole);
    }).every = kForksEvery;
  }
}

Result<void> Field::AddStore(std::size_t packages, unsigned every) {
  IGLOO_ASSIGN(FakeStore made, FakeStore::Make(packages));
  const FakeStore& store = shared_->stores.emplace_back(std::move(made));
  IGLOO_ASSIGN(sandbox::Plan planned, PlanFor("shell", {"/usr/bin/true"}, &store));
  const sandbox::Plan& plan = shared_->plans.emplace_back(std::move(planned));
  const std::string bwrap = fmt::format("bwrap_{}", packages);
  Candidate& peer =
      candidates_.emplace_back(Candidate{.key = bwrap,
                                         .name = fmt::format("bwrap, {} store paths", packages),
                                         .against = bwrap,
                                         .every = every});
  if (auto command = Through("bwrap", shared_->ground, kTrue)) {
    Words& words = command->argv;
    for (const std::string& source : store.sources()) {
      words.insert(std::ranges::find(words, "--"),
                   {"--ro-bind", source, FakeStore::TargetOf(source)});
    }
    peer.once = Spawning(*std::move(command));
  } else {
    peer.failure = command.error().what;
  }
  candidates_.push_back({.key = fmt::format("prepared_{}", packages),
                         .name = fmt::format("prepared, {} store paths", packages),
                         .against = bwrap,
                         .once = [this, &plan] { return shared_->prepared.Once(plan); }});
  candidates_.push_back({.key = fmt::format("cold_{}", packages),
                         .name = fmt::format("not prepared, {} store paths", packages),
                         .against = bwrap,
                         .once = [this, &plan] { return shared_->cold.Once(plan); }});
  return {};
}

/// A run in an artifact on a plan that is kept, as those of interpreters are, and the planning.
void Field::AddClosure(std::size_t packages) {
  const auto add = [&](const char* key, const char* name, std::string failure) -> Candidate& {
    return candidates_.emplace_back(
        Candidate{.key = fmt::format("{}_{}", key, packages),
                  .name = fmt::format("{}, closure of {}", name, packages),
                  .against = "bwrap",
                  .failure = std::move(failure)});
  };
  auto made = FakeArtifacts::Make(1, packages);
  auto opened =
      made ? made->Open() : Result<environment::Environment>(std::unexpected(made.error()));
  if (!opened) {
    add("closure", "prepared", opened.error().what);
    add("plan", "planning", opened.error().what);
    return;
  }
  shared_->artifacts.push_back(*std::move(made));
  const environment::Environment& environment =
      shared_->environments.emplace_back(*std::move(opened));
  const auto make = [&environment] {
    const environment::RunRequest request{
        .what = environment::Program{{environment.interpreter[0], "-c", ":"}}};
    return session::PlanFor(environment, request);
  };
  add("closure", "prepared", "").once =
      [this, kept = std::make_shared<Result<sandbox::Plan>>(make())]() -> Result<double> {
    if (!*kept) return std::unexpected(kept->error());
    return shared_->prepared.Once(**kept);
  };
  add("plan", "planning", "").once = [make]() -> Result<double> {
    const Stopwatch watch;
    IGLOO_TRY(make());
    return watch.micros();
  };
}

/// What five hundred artifacts cost those who only list them, or use another environment.
void Field::AddArtifacts() {
  constexpr std::size_t kMany = 500;
  const std::string igloo = shared_->ground.programs() + "/igloo";
  const auto add = [&](std::string key, std::string name) -> Candidate& {
    return candidates_.emplace_back(
        Candidate{.key = std::move(key), .name = std::move(name), .against = "bwrap"});
  };
  auto made = FakeArtifacts::Make(kMany, 300);
  const std::string failure = made ? "" : made.error().what;
  const FakeArtifacts* all = made ? &shared_->artifacts.emplace_back(*std::move(made)) : nullptr;
  const Words variable = {all != nullptr ? "NIX_SANDBOX_DIR=" + all->place() : ""};
  Candidate* added = &add("scan_500", "scan of 500 artifacts");
  added->failure = failure;
  if (all != nullptr) added->once = [all] { return all->Scan(); };
  added = &add("env_list_500", "igloo env list, 500 artifacts");
  added->failure = failure;
  added->once = Spawning({{igloo, "env", "list"}, variable});
  added = &add("one_shot_500", "igloo run, beside 500 artifacts");
  added->failure = failure;
  added->once = Spawning({{igloo, "run", "--env", "shell", "--", "/usr/bin/true"}, variable});
}

void Field::AddNetwork() {
  NetworkRuns& runs = shared_->network.emplace(shared_->ground.programs());
  for (Candidate& each : runs.Candidates()) candidates_.push_back(std::move(each));
}

void Field::AddBoxes() {
  auto made = BoxRuns::Make(shared_->ground.programs());
  if (!made) {
    candidates_.push_back({.key = "box",
                           .name = "box, to the agent's first instruction",
                           .failure = made.error().what});
    return;
  }
  const BoxRuns& runs = shared_->boxes.emplace(*std::move(made));
  for (Candidate& each : runs.Candidates()) candidates_.push_back(std::move(each));
}

std::vector<Sustained> SustainAll(Field& field, Windows windows) {
  std::vector<Sustained> out;
  const auto spawning = [&](std::string_view key) {
    const Candidate* candidate = Find(field.candidates(), key);
    return [once = candidate == nullptr ? Once() : candidate->once] { return once; };
  };
  const auto add = [&](std::string key, std::string name, const std::function<Once()>& make) {
    out.push_back(Sustain(std::move(key), std::move(name), make, windows));
  };
  add("spawn", "posix_spawn /bin/true", [] { return Spawning({kTrue}); });
  if (spawning("bwrap")()) add("bwrap", "bwrap", spawning("bwrap"));
  add("one_shot", "igloo run", spawning("one_shot"));
  add("prepared", "igloo, running launcher", [&field] {
    return [runs = std::make_shared<LauncherRuns>(field.programs(), backend::jail::Mode::kPrepared),
            plan = std::make_shared<Result<sandbox::Plan>>(
                PlanFor("shell", {"/usr/bin/true"}))]() -> Result<double> {
      if (!*plan) return std::unexpected(plan->error());
      return runs->Once(**plan);
    };
  });
  if (spawning("bwrap_python")()) {
    add("bwrap_python", "fresh Python, bwrap", spawning("bwrap_python"));
    out.back().against = "bwrap_python";
  }
  add("ready_python", "fresh Python, ready", [&field] {
    return [runs = std::make_shared<ReadyRuns>(field.programs(), Languages().front(),
                                               ReadyRuns::Of::kPrograms, kUsuallyReady)] {
      return runs->Next();
    };
  });
  out.back().against = "bwrap_python";
  return out;
}

const Candidate* Find(const std::vector<Candidate>& candidates, std::string_view key) {
  const auto found = std::ranges::find(candidates, key, &Candidate::key);
  return found == candidates.end() ? nullptr : &*found;
}

const Timeline& Field::one_shot_timeline() const { return shared_->one_shot_timeline; }
const Timeline& Field::prepared_timeline() const { return shared_->prepared_timeline; }
const Samples& Field::output_peak() const { return shared_->output_peak; }
const McpServers& Field::mcp() const { return *shared_->mcp; }
NetworkRuns& Field::network() { return *shared_->network; }
unsigned Field::pool_misses() const {
  unsigned sum = 0;
  for (const ReadyRuns& each : shared_->ready) sum += each.misses();
  return sum;
}
Ground& Field::ground() { return shared_->ground; }
const backend::Programs& Field::programs() const { return shared_->programs; }

}  // namespace igloo::bench
