#include "bench/candidates.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <deque>

#include "bench/launcher_runs.h"
#include "bench/process.h"
#include "cli/programs.h"

namespace igloo::bench {
namespace {

using Words = std::vector<std::string>;

constexpr const char* kPython = "/usr/bin/python3";

Words Bwrap(const Words& program, const FakeStore* store = nullptr) {
  Words words = {"/usr/bin/bwrap", "--unshare-all", "--die-with-parent",
                 "--ro-bind",      "/usr",          "/usr",
                 "--symlink",      "usr/bin",       "/bin",
                 "--symlink",      "usr/lib",       "/lib",
                 "--symlink",      "usr/lib64",     "/lib64",
                 "--proc",         "/proc",         "--dev",
                 "/dev",           "--tmpfs",       "/tmp"};
  if (store != nullptr) {
    for (const std::string& source : store->sources()) {
      words.insert(words.end(), {"--ro-bind", source, FakeStore::TargetOf(source)});
    }
  }
  words.emplace_back("--");
  words.insert(words.end(), program.begin(), program.end());
  return words;
}

std::function<Result<double>()> Spawning(Words words) {
  return [words = std::move(words)]() -> Result<double> {
    IGLOO_ASSIGN(const ProcessRun run, RunSpawned(words));
    return run.micros();
  };
}

}  // namespace

struct Field::Shared {
  explicit Shared(const backend::jail::Programs& programs)
      : prepared(programs, backend::jail::Mode::kPrepared),
        timed(programs, backend::jail::Mode::kPrepared, &prepared_timeline),
        cold(programs, backend::jail::Mode::kCold) {}

  std::deque<FakeStore> stores = {};     // candidates point to elements
  std::deque<sandbox::Plan> plans = {};  // the same
  Timeline one_shot_timeline = {}, prepared_timeline = {};
  LauncherRuns prepared, timed, cold;
};

Field::Field(std::unique_ptr<Shared> shared) : shared_(std::move(shared)) {}
Field::~Field() = default;

Result<std::unique_ptr<Field>> Field::Make() {
  IGLOO_ASSIGN(const auto programs, cli::FindPrograms());
  std::unique_ptr<Field> field(new Field(std::make_unique<Shared>(programs)));
  field->AddPrograms(programs.jail.substr(0, programs.jail.rfind('/')) + "/igloo");
  IGLOO_TRY(field->AddLauncher());
  IGLOO_TRY(field->AddStore(100, 2));
  IGLOO_TRY(field->AddStore(300, 5));
  IGLOO_TRY(field->AddStore(600, 5));
  return field;
}

void Field::AddPrograms(const std::string& igloo) {
  const Words run = {igloo, "run", "--env", "shell"};
  const auto running = [&](Words options) {
    Words words = run;
    words.insert(words.end(), options.begin(), options.end());
    words.insert(words.end(), {"--", "/usr/bin/true"});
    return words;
  };
  candidates_.push_back({.key = "T",
                         .name = "fork + exec /bin/true (T)",
                         .against = "bwrap",
                         .once = []() -> Result<double> {
                           IGLOO_ASSIGN(const ProcessRun forked, RunForked({"/bin/true"}));
                           return forked.micros();
                         }});
  candidates_.push_back({.key = "spawn",
                         .name = "posix_spawn /bin/true",
                         .against = "bwrap",
                         .once = Spawning({"/bin/true"})});
  candidates_.push_back({.key = "bwrap",
                         .name = "bwrap",
                         .against = "bwrap",
                         .once = Spawning(Bwrap({"/bin/true"}))});
  candidates_.push_back({.key = "version",
                         .name = "igloo --version",
                         .against = "bwrap",
                         .once = Spawning({igloo, "--version"})});
  candidates_.push_back({.key = "one_shot",
                         .name = "igloo run, to its exit",
                         .against = "bwrap",
                         .once = Spawning(running({}))});
  candidates_.push_back({.key = "one_shot_report",
                         .name = "igloo run, to init's report",
                         .against = "bwrap",
                         .once = [this, words = running({"--timing"})]() -> Result<double> {
                           IGLOO_ASSIGN(const ProcessRun timed, RunSpawned(words, Errors::kKept));
                           return shared_->one_shot_timeline.Add(timed);
                         }});
  candidates_.push_back({.key = "one_shot_bubblewrap",
                         .name = "igloo run --backend bubblewrap",
                         .against = "bwrap",
                         .once = Spawning(running({"--backend", "bubblewrap"}))});
}

Result<void> Field::AddLauncher() {
  const auto through = [](LauncherRuns& runs, const sandbox::Plan& plan) {
    return [&runs, &plan] { return runs.Once(plan); };
  };
  IGLOO_ASSIGN(sandbox::Plan plan, PlanFor("shell", {"/usr/bin/true"}));
  const sandbox::Plan& program = shared_->plans.emplace_back(std::move(plan));
  candidates_.push_back({.key = "prepared",
                         .name = "running launcher, prepared",
                         .against = "bwrap",
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
      {.key = "python", .name = "python print(1), direct", .once = Spawning(print)});
  IGLOO_ASSIGN(sandbox::Plan python, PlanFor("python", print));
  candidates_.push_back(
      {.key = "python_prepared",
       .name = "python print(1), prepared",
       .once = through(shared_->prepared, shared_->plans.emplace_back(std::move(python)))});
  return {};
}

Result<void> Field::AddStore(std::size_t packages, unsigned every) {
  IGLOO_ASSIGN(FakeStore made, FakeStore::Make(packages));
  const FakeStore& store = shared_->stores.emplace_back(std::move(made));
  IGLOO_ASSIGN(sandbox::Plan planned, PlanFor("shell", {"/usr/bin/true"}, &store));
  const sandbox::Plan& plan = shared_->plans.emplace_back(std::move(planned));
  const std::string bwrap = fmt::format("bwrap_{}", packages);
  candidates_.push_back({.key = bwrap,
                         .name = fmt::format("bwrap, {} store paths", packages),
                         .against = bwrap,
                         .every = every,
                         .once = Spawning(Bwrap({"/bin/true"}, &store))});
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

const Candidate* Field::Find(std::string_view key) const {
  const auto found = std::ranges::find(candidates_, key, &Candidate::key);
  return found == candidates_.end() ? nullptr : &*found;
}

const Timeline& Field::one_shot_timeline() const { return shared_->one_shot_timeline; }
const Timeline& Field::prepared_timeline() const { return shared_->prepared_timeline; }

}  // namespace igloo::bench
