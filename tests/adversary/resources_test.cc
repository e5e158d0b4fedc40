// P7: processes, memory, files, descriptors and output are bounded.
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>

#include "attack_case.h"
#include "base/spawn.h"
#include "environment/facts.h"

namespace igloo::testing {
namespace {

void GiveRoom(sandbox::Policy& policy) {
  for (sandbox::Entry& entry : policy.run) {
    auto* tree = std::get_if<sandbox::MemoryTree>(&entry);
    if (tree == nullptr) continue;
    tree->capacity.bytes = 1ULL << 30;
    if (tree->capacity.inodes) tree->capacity.inodes = 200'000;
  }
}

/// At their usual sizes, for which a machine of users may have no memory to spare.
std::vector<Case> LargePlaceCases() {
  std::vector<Case> cases;
  const std::tuple<const char*, const char*, const char*> places[] = {
      {"TemporarySpace", "/tmp", "320"},
      {"WorkspaceSpace", "/workspace", "320"},
      {"SharedMemorySpace", "/dev/shm", "128"}};
  for (const auto& [name, place, megabytes] : places) {
    cases.push_back({.name = name,
                     .attack = {"fill-place", place, megabytes},
                     .control = Control::kWeakened,
                     .weaken = GiveRoom});
  }
  return cases;
}

INSTANTIATE_TEST_SUITE_P(Resources, Attack,
                         ::testing::Combine(::testing::ValuesIn(prove::ResourceCases()),
                                            EveryWall()),
                         CaseName);
INSTANTIATE_TEST_SUITE_P(Places, Attack,
                         ::testing::Combine(::testing::ValuesIn(prove::PlaceCases()), EveryWall()),
                         CaseName);
INSTANTIATE_TEST_SUITE_P(LargePlaces, Attack,
                         ::testing::Combine(::testing::ValuesIn(LargePlaceCases()), EveryWall()),
                         CaseName);

/// The jail counts files. Bubblewrap cannot, and says so; its plan must not claim otherwise.
TEST(Names, AreLimitedByTheJail) {
  const Scene scene;
  const std::vector<std::string> attack = {"fill-names", "/tmp", "70000"};
  const Outcome behind = AttackBehind(Wall::kJail, scene, attack);
  EXPECT_EQ(behind.status, kHeld) << behind.err;
  EXPECT_EQ(AttackBehind(Wall::kJail, scene, attack, GiveRoom).status, kLeaked) << "control";
}

TEST(Names, AreNotPromisedByBubblewrap) {
  const Scene scene;
  const sandbox::Policy policy = PolicyFor(Wall::kBubblewrap, scene, {"/bin/true"});
  const auto limited = [](const sandbox::Entry& entry) {
    const auto* tree = std::get_if<sandbox::MemoryTree>(&entry);
    return tree != nullptr && tree->capacity.inodes.has_value();
  };
  EXPECT_TRUE(std::ranges::none_of(policy.run, limited));
  sandbox::Policy promising = PolicyFor(Wall::kJail, scene, {"/bin/true"});
  EXPECT_TRUE(std::ranges::any_of(promising.run, limited)) << "control";
  for (sandbox::Entry& entry : promising.run) {
    if (auto* tree = std::get_if<sandbox::HostTree>(&entry)) tree->map_owner = false;
  }
  const auto plan =
      sandbox::MakePlan(promising, environment::GatherFacts(sandbox::SourcesOf(promising)));
  EXPECT_EQ(RunPlan(Wall::kBubblewrap, plan.value()).status, -1)
      << "what bubblewrap cannot do is refused, not dropped";
}

class Flood : public ::testing::TestWithParam<Wall> {};

/// A fork bomb that ignores signals ends at its time limit, and this program can still start
/// others.
TEST_P(Flood, OfProcessesEndsAtTheTimeLimit) {
  const Scene scene;
  const std::string marker = scene.Fill({"bomb-{id}"}, Side::kHost)[0];
  const Outcome behind =
      AttackBehind(GetParam(), scene, {"fork-forever", marker}, [](auto& policy) {
        policy.limits.time_ms = 500;
        policy.limits.grace_ms = 50;
      });
  EXPECT_EQ(behind.status, 124) << behind.err;
  EXPECT_EQ(CountProcesses(marker), 0);
  EXPECT_EQ(RunProgram({.program = "/bin/true"}).status, 0);
}

/// Memory that processes share is in no limit of one of them; igloo-init adds it up.
TEST_P(Flood, OfSharedMemoryEndsTheRun) {
  const Scene scene;
  const std::vector<std::string> words = {"map-shared", "2000"};
  const Outcome behind = AttackBehind(GetParam(), scene, words);
  EXPECT_EQ(behind.status, 137) << "killed, and not: " << behind.err;
  EXPECT_EQ(AttackOnHost(scene, words).status, kLeaked) << "control: 2 GB can be had";
}

void GiveLittleMemory(sandbox::Policy& policy) { policy.limits.memory_bytes = 64U << 20; }

/// Without a cgroup, as here, igloo-init adds up what is used.
TEST_P(Flood, OfPrivateMemoryEndsTheRun) {
  const Scene scene;
  const std::vector<std::string> words = {"use-private", "600"};
  const Outcome behind = AttackBehind(GetParam(), scene, words, GiveLittleMemory);
  EXPECT_EQ(behind.status, 137) << "killed, and not: " << behind.err;
  EXPECT_EQ(AttackOnHost(scene, words).status, kLeaked) << "control: 600 MB can be used";
}

/// What a program reserves is nobody's loss: Node 24 does not start without 512 MB of it.
TEST_P(Flood, IsNotWhatAProgramReserves) {
  const Scene scene;
  const Outcome behind =
      AttackBehind(GetParam(), scene, {"reserve-private", "2048", "8"}, GiveLittleMemory);
  EXPECT_EQ(behind.status, kLeaked) << behind.err;
}

/// Peak memory in KiB of a program and of what it waited for.
long PeakOf(const std::string& program, std::vector<std::string> args) {
  args.insert(args.begin(), program);
  // Its own process, because the kernel keeps one peak for all children of a process.
  const pid_t counter = ::fork();
  if (counter == 0) {
    auto child = Spawn({.program = program, .argv = args, .env = {"PATH=/usr/bin"}});
    rusage usage{};
    if (!child || !child->Wait() || ::getrusage(RUSAGE_CHILDREN, &usage) != 0) ::_exit(1);
    // An exit code is too small for a size: megabytes fit.
    ::_exit(static_cast<int>(std::min(usage.ru_maxrss >> 12, 255L)));
  }
  int status = 0;
  ::waitpid(counter, &status, 0);
  return static_cast<long>(WEXITSTATUS(status)) << 12;
}

TEST_P(Flood, OfOutputDoesNotGrowIgloo) {
  const Scene scene;
  const std::string igloo = BinDirectory() + "/igloo";
  auto quiet = IglooArguments(GetParam(), scene, {"flood", "1"});
  quiet.push_back("--json");
  const long little = PeakOf(igloo, quiet);
  auto loud = IglooArguments(GetParam(), scene, {"flood", "200"});
  loud.push_back("--json");
  const long much = PeakOf(igloo, loud);
  // It keeps 8 MB per stream, and writing them as JSON takes a few copies.
  EXPECT_LT(much, little + (100L << 10)) << "igloo keeps all that the code prints";
  const long keeper = PeakOf("/bin/bash", {"-c", "x=$(head -c 200M /dev/zero | tr '\\0' x)"});
  EXPECT_GT(keeper, 200L << 10) << "control: a program that keeps everything is seen to grow";
}

INSTANTIATE_TEST_SUITE_P(Walls, Flood, EveryBackend(), WallName);

}  // namespace
}  // namespace igloo::testing
