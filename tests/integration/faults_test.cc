// Parts of igloo killed in the middle of their work.

#include <gmock/gmock.h>
#include <signal.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <functional>

#include "base/temp_dir.h"
#include "support/host.h"
#include "support/igloo.h"
#include "support/running.h"
#include "support/sandbox.h"

namespace igloo::testing {
namespace {

using backend::jail::Mode;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

/// A run in full swing and the processes it is made of.
struct Victim {
  Running igloo;
  std::string marker = {};
  pid_t launcher = 0, init = 0;
  std::vector<ProcessInfo> family = {};
};

class Faults : public ::testing::Test {
 protected:
  /// Starts a run with processes of its own, a project and an overlay in TMPDIR's care.
  Victim Start() {
    const std::string marker = UniqueMarker();
    Victim victim{
        .igloo = Running({.program = BinDirectory() + "/igloo",
                          .args = {"run", "--env", "shell", "--timeout", "100", "--project",
                                   project_.path() + ":overlay", "--", "/bin/bash", "-c",
                                   "trap '' INT TERM HUP; (sleep 1000 & sleep 1000) & "
                                   "echo x > /project/new; echo ready; "
                                   "while :; do sleep 1; done",
                                   marker},
                          .env = {"PATH=/usr/bin", "TMPDIR=" + temporary_.path()}}),
        .marker = marker};
    EXPECT_TRUE(victim.igloo.WaitForOutput("ready\n")) << victim.igloo.Finish().err;
    EXPECT_TRUE(WaitFor([&] {
      victim.family = DescendantsOf(victim.igloo.pid());
      return victim.family.size() >= 6;
    })) << "launcher, init, code and what it started";
    for (const ProcessInfo& each : ChildrenOf(victim.igloo.pid())) victim.launcher = each.pid;
    for (const ProcessInfo& each : ChildrenOf(victim.launcher)) victim.init = each.pid;
    EXPECT_NE(victim.launcher, 0);
    EXPECT_NE(victim.init, 0);
    EXPECT_THAT(FindMarked(marker), Not(IsEmpty()));
    return victim;
  }

  /// Nothing of the run is left on the host.
  void ExpectNothingLeft(const Victim& victim) {
    for (const ProcessInfo& each : victim.family) {
      EXPECT_TRUE(WaitFor([&] { return IsGone(each.pid); })) << each.pid << " " << each.name;
    }
    EXPECT_TRUE(WaitFor([&] { return FindMarked(victim.marker).empty(); }));
    EXPECT_EQ(MountTable(), mounts_);
    EXPECT_TRUE(std::filesystem::is_empty(temporary_.path()));
    EXPECT_TRUE(std::filesystem::is_empty(project_.path()));
  }

  TempDir temporary_ = TempDir::Make(TempParent()).value();
  TempDir project_ = TempDir::Make(TempParent()).value();
  const std::string mounts_ = MountTable();
};

TEST_F(Faults, KillingIglooEndsTheRun) {
  Victim victim = Start();
  victim.igloo.Signal(SIGKILL);
  EXPECT_EQ(victim.igloo.Finish().status, 128 + SIGKILL);
  ExpectNothingLeft(victim);
}

TEST_F(Faults, KillingTheLauncherIsReported) {
  Victim victim = Start();
  ASSERT_EQ(::kill(victim.launcher, SIGKILL), 0);
  const Outcome outcome = victim.igloo.Finish();
  EXPECT_EQ(outcome.status, 125);
  EXPECT_THAT(outcome.err, AllOf(HasSubstr("ended without a report"), HasSubstr("hint: ")));
  ExpectNothingLeft(victim);
}

TEST_F(Faults, KillingInitIsReported) {
  Victim victim = Start();
  ASSERT_EQ(::kill(victim.init, SIGKILL), 0);
  const Outcome outcome = victim.igloo.Finish();
  EXPECT_EQ(outcome.status, 125);
  EXPECT_THAT(outcome.err, AllOf(HasSubstr("ended without a report"), HasSubstr("hint: ")));
  ExpectNothingLeft(victim);
}

TEST_F(Faults, KillingTheCodeIsItsOwnEnd) {
  Victim victim = Start();
  const std::vector<pid_t> code = FindMarked(victim.marker);
  // The code and its subshell carry the marker; the first one is the child of init.
  for (const ProcessInfo& each : ChildrenOf(victim.init)) {
    if (std::ranges::find(code, each.pid) != code.end()) ::kill(each.pid, SIGKILL);
  }
  EXPECT_EQ(victim.igloo.Finish().status, 128 + SIGKILL);
  ExpectNothingLeft(victim);
}

TEST_F(Faults, AStoppedLauncherDoesNotHoldTheRun) {
  // The launcher is not needed any more once the code runs.
  Victim victim = Start();
  ASSERT_EQ(::kill(victim.launcher, SIGSTOP), 0);
  victim.igloo.Signal(SIGTERM);
  EXPECT_EQ(victim.igloo.Finish().status, 128 + SIGKILL);
  ExpectNothingLeft(victim);
}

TEST_F(Faults, MissingProgramsAreReported) {
  namespace fs = std::filesystem;
  const std::string place = temporary_.path();
  for (const char* name : {"/igloo", "/igloo-core", "/igloo-jail"}) {
    fs::copy_file(BinDirectory() + name, place + name);
  }
  const auto start = [&](const char* name) {
    return RunProgram({.program = place + name, .args = {"run", "--env", "shell", "echo ok"}});
  };
  // The sandbox that igloo itself begins needs no other program; igloo-core alone starts one.
  const auto run = [&] { return start("/igloo-core"); };
  EXPECT_EQ(run().out, "ok\n") << "control: the copy works";
  EXPECT_EQ(start("/igloo").out, "ok\n") << "control: this one, too";
  std::ofstream(place + "/igloo-jail") << "not a program\n";
  const Outcome broken = run();
  EXPECT_EQ(broken.status, 125);
  EXPECT_THAT(broken.err, AllOf(HasSubstr("igloo-jail"), HasSubstr("hint: ")));
  fs::remove(place + "/igloo-jail");
  const Outcome missing = run();
  EXPECT_EQ(missing.status, 125);
  EXPECT_THAT(missing.err, AllOf(HasSubstr("igloo-jail"), HasSubstr("hint: ")));
  fs::remove(place + "/igloo-core");
  const Outcome alone = start("/igloo");
  EXPECT_EQ(alone.status, 125);
  EXPECT_THAT(alone.err, AllOf(HasSubstr("igloo-core"), HasSubstr("hint: ")));
}

pid_t OwnLauncher() {
  for (const ProcessInfo& each : ChildrenOf(::getpid())) {
    if (each.name == "igloo-jail" && each.state != 'Z') return each.pid;
  }
  return 0;
}

/// Kills a process of a workbench and everything that dies with it.
void KillWithFamily(pid_t pid) {
  std::vector<ProcessInfo> family = DescendantsOf(pid);
  ASSERT_EQ(::kill(pid, SIGKILL), 0);
  ASSERT_TRUE(WaitFor([&] { return IsGone(pid); }));
  for (const ProcessInfo& each : family) {
    ASSERT_TRUE(WaitFor([&] { return IsGone(each.pid); })) << each.pid << " " << each.name;
  }
}

/// How many runs fail, one after the other, until one works again; 9: none does.
int FailuresUntilItWorks(Workbench& bench) {
  const sandbox::Plan plan = PlanForShell("echo works");
  for (int failures = 0; failures < 9; ++failures) {
    const auto result = bench.Run(plan);
    if (result && result->output.kept() == "works\n") return failures;
    EXPECT_FALSE(result.error().what.empty());
  }
  return 9;
}

TEST(PreparedFaults, ALauncherThatDiedBetweenRunsIsReplaced) {
  for (const Mode mode : {Mode::kPrepared, Mode::kCold}) {
    Workbench bench(mode);
    ASSERT_EQ(FailuresUntilItWorks(bench), 0);
    KillWithFamily(OwnLauncher());
    // A server's next run does not notice; a single run has nothing to go on with.
    EXPECT_EQ(FailuresUntilItWorks(bench), mode == Mode::kPrepared ? 0 : 1);
    EXPECT_EQ(FailuresUntilItWorks(bench), 0) << "and it stays";
  }
}

TEST(PreparedFaults, ALauncherThatDiesBeforeItsFirstRunIsReplaced) {
  Workbench bench(Mode::kPrepared);
  ASSERT_TRUE(bench.backend().Warm());
  KillWithFamily(OwnLauncher());
  EXPECT_EQ(FailuresUntilItWorks(bench), 0);
}

TEST(PreparedFaults, ALauncherThatDiesDuringARunIsReplaced) {
  Workbench bench(Mode::kPrepared);
  const sandbox::Plan plan = PlanForShell("echo ready; read line");
  {
    LiveRun run(bench, plan);
    ASSERT_TRUE(run.WaitForOutput("ready\n"));
    KillWithFamily(OwnLauncher());
    const auto result = run.Finish();
    ASSERT_FALSE(result);
    EXPECT_THAT(result.error().what, HasSubstr("ended without a report"));
  }
  EXPECT_LE(FailuresUntilItWorks(bench), 1);
}

TEST(PreparedFaults, ATemplateThatDiesIsPreparedAgain) {
  Workbench bench(Mode::kPrepared);
  ASSERT_EQ(FailuresUntilItWorks(bench), 0);
  const pid_t launcher = OwnLauncher();
  const auto templates = ChildrenOf(launcher);
  ASSERT_EQ(templates.size(), 1U);
  KillWithFamily(templates.front().pid);
  EXPECT_LE(FailuresUntilItWorks(bench), 2);
  EXPECT_EQ(FailuresUntilItWorks(bench), 0) << "and it stays";
  EXPECT_EQ(OwnLauncher(), launcher) << "only the template was replaced";
}

TEST(PreparedFaults, AnInitThatDiesTakesOnlyItsRunAlong) {
  Workbench bench(Mode::kPrepared);
  const std::string marker = UniqueMarker();
  const sandbox::Plan plan = PlanForProgram({"/bin/sh", "-c", "echo ready; cat", marker});
  const sandbox::Plan other_plan = PlanForShell("echo ready; cat");
  LiveRun other(bench, other_plan);
  LiveRun run(bench, plan);
  ASSERT_TRUE(other.WaitForOutput("ready\n"));
  ASSERT_TRUE(run.WaitForOutput("ready\n"));
  const pid_t payload = WaitForMarked(marker);
  ASSERT_NE(payload, 0);
  pid_t init = 0;
  for (const ProcessInfo& each : Processes()) {
    if (each.pid == payload) init = each.parent;
  }
  ASSERT_EQ(::kill(init, SIGKILL), 0);
  EXPECT_FALSE(run.Finish());
  other.Write("still here\n");
  EXPECT_TRUE(other.WaitForOutput("still here\n"));
  EXPECT_TRUE(other.Finish());
  EXPECT_EQ(FailuresUntilItWorks(bench), 0);
}

}  // namespace
}  // namespace igloo::testing
