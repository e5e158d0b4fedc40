// P3 and P8: no process of the host is seen, signalled or traced; none of ours stays behind.
#include <signal.h>

#include "attack_case.h"
#include "base/file.h"
#include "base/spawn.h"

namespace igloo::testing {
namespace {

INSTANTIATE_TEST_SUITE_P(Processes, Attack,
                         ::testing::Combine(::testing::ValuesIn(prove::ProcessCases()),
                                            EveryWall()),
                         CaseName);

class Survival : public ::testing::TestWithParam<Wall> {
 protected:
  /// Of this scene only: other tests may run beside this one.
  static std::string Marker(const Scene& scene) {
    return scene.Fill({"left-{id}"}, Side::kHost)[0];
  }
};

TEST_P(Survival, DaemonEndsWithTheRun) {
  const Scene scene;
  const std::string marker = Marker(scene);
  const Outcome behind = AttackBehind(GetParam(), scene, {"daemonise", marker});
  EXPECT_EQ(behind.status, kHeld) << behind.err;
  // An interpreter's sandbox outlives its program, and ends with the interpreter: a moment later.
  const double patience = GetParam() == Wall::kRestored ? 2 : 0;
  EXPECT_TRUE(WaitFor([&] { return CountProcesses(marker) == 0; }, patience))
      << "a process outlived its sandbox";

  const Outcome control = AttackOnHost(scene, {"daemonise", marker});
  EXPECT_EQ(control.status, kHeld) << control.err;
  EXPECT_EQ(CountProcesses(marker), 1) << "control: without a wall the daemon stays";
  EndProcesses(marker);
}

TEST_P(Survival, TimeLimitEndsWhoIgnoresSignals) {
  const Scene scene;
  const std::string marker = Marker(scene);
  const Outcome behind = AttackBehind(GetParam(), scene, {"stay", marker}, [](auto& policy) {
    policy.limits.time_ms = 300;
    policy.limits.grace_ms = 50;
  });
  EXPECT_EQ(behind.status, 124) << behind.err;
  EXPECT_EQ(behind.out, "staying\n") << "control: it must have run";
  EXPECT_EQ(CountProcesses(marker), 0);
}

class KilledIgloo : public Survival {};

TEST_P(KilledIgloo, IsOutlivedByNobody) {
  const Scene scene;
  const std::string marker = Marker(scene);
  FdPair output = MakePipe().value();
  auto arguments = IglooArguments(GetParam(), scene, {"stay", marker});
  arguments.insert(arguments.begin(), "igloo");
  Child igloo = Spawn({.program = BinDirectory() + "/igloo",
                       .argv = arguments,
                       .env = {"PATH=/usr/bin"},
                       .fds = {{output.second.get(), 1}}})
                    .value();
  output.second.Reset();
  char byte = 0;
  ASSERT_EQ(::read(output.first.get(), &byte, 1), 1) << "the attack did not start";
  // Control: it ignores every signal and waits for nobody, so only the wall can end it.
  ASSERT_EQ(CountProcesses(marker), 1);
  igloo.KillAndReap();
  EXPECT_TRUE(WaitFor([&] { return CountProcesses(marker) == 0; }, 2))
      << "a process outlived igloo by two seconds";
}

INSTANTIATE_TEST_SUITE_P(Walls, KilledIgloo, EveryBackend(), WallName);
INSTANTIATE_TEST_SUITE_P(Walls, Survival, EveryWall(), WallName);

}  // namespace
}  // namespace igloo::testing
