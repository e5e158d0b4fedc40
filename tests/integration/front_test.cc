// The small program in front of igloo-core, which begins a run's sandbox before igloo has started.

#include <gmock/gmock.h>
#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "base/temp_dir.h"
#include "environment/facts.h"
#include "environment/host.h"
#include "environment/run_policy.h"
#include "ops/ops.h"
#include "sandbox/plan.h"
#include "support/host.h"
#include "support/igloo.h"
#include "support/running.h"
#include "support/terminal.h"

namespace igloo::testing {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;

TEST(Front, LeavesNothingOfTheCallerInTheSandbox) {
  const std::string secret = "word-" + UniqueMarker();
  const std::string marker = UniqueMarker();
  Running run(
      {.program = BinDirectory() + "/igloo",
       .args = {"run", "--env", "shell", "--", "/bin/sh", "-c", "echo ready; read x", marker},
       .env = {"PATH=/usr/bin", "SECRET=" + secret}});
  ASSERT_TRUE(run.WaitForOutput("ready\n"));
  const pid_t launcher = LauncherAbove(WaitForMarked(marker), run.pid());
  ASSERT_NE(launcher, 0);
  const auto children = ChildrenOf(launcher);
  ASSERT_EQ(children.size(), 1U);
  const ProcessInfo& init = children.front();
  EXPECT_EQ(init.name, "igloo-init");
  EXPECT_THAT(ReadProc("/proc/" + std::to_string(init.pid) + "/cmdline"),
              ::testing::StartsWith("igloo-init"));
  EXPECT_THAT(ReadProc("/proc/" + std::to_string(launcher) + "/cmdline"),
              ::testing::StartsWith("igloo-jail"));
  const std::string environ = "/proc/" + std::to_string(init.pid) + "/environ";
  if (RunningAsRoot()) {
    EXPECT_FALSE(MemoryHolds(init.pid, secret));
    EXPECT_TRUE(MemoryHolds(run.pid(), secret)) << "control: igloo itself has it";
  } else {
    EXPECT_FALSE(std::ifstream(environ).is_open()) << "its memory is closed even to its own user";
    std::ifstream own("/proc/" + std::to_string(run.pid()) + "/environ");
    EXPECT_TRUE(own.is_open()) << "control: igloo's can be read";
  }
}

TEST(Front, IgnoresALauncherThatIsNotItsChild) {
  for (const char* lie : {"0,1", "99999,2", "-1,-1", "x", "", "3,99999999"}) {
    const Outcome outcome =
        RunProgram({.program = BinDirectory() + "/igloo-core",
                    .args = {"run", "--env", "shell", "echo ok"},
                    .env = {"PATH=/usr/bin", std::string("IGLOO_LAUNCHER=") + lie}});
    EXPECT_EQ(outcome.out, "ok\n") << lie << outcome.err;
  }
}

TEST(Front, PassesEverythingOn) {
  const Outcome closed = RunProgram({.program = BinDirectory() + "/igloo",
                                     .args = {"run", "--env", "shell", "cat; echo end"},
                                     .close_input = true});
  EXPECT_EQ(closed.out, "end\n") << closed.err;
  std::vector<std::string> many = {"PATH=/usr/bin"};
  for (int i = 0; i < 9000; ++i) many.push_back("V" + std::to_string(i) + "=1");
  const Outcome crowded = RunProgram({.program = BinDirectory() + "/igloo",
                                      .args = {"run", "--env", "shell", "echo ok"},
                                      .env = many});
  EXPECT_EQ(crowded.out, "ok\n") << crowded.err;
  EXPECT_EQ(RunProgram({.program = BinDirectory() + "/igloo"}).status,
            RunProgram({.program = BinDirectory() + "/igloo-core"}).status);
}

TEST(Front, FindsTheRestWhereItIsInstalled) {
  namespace fs = std::filesystem;
  const TempDir place = TempDir::Make(TempParent()).value();
  fs::create_directories(place.path() + "/bin");
  fs::create_directories(place.path() + "/libexec/igloo");
  fs::copy_file(BinDirectory() + "/igloo", place.path() + "/bin/igloo");
  for (const char* name : {"/igloo-core", "/igloo-jail", "/igloo-init", "/igloo-container"}) {
    fs::copy_file(BinDirectory() + name, place.path() + "/libexec/igloo" + name);
  }
  for (const char* backend : OfferedWalls()) {
    const Outcome outcome =
        RunProgram({.program = place.path() + "/bin/igloo",
                    .args = {"run", "--env", "shell", "--backend", backend, "echo ok"}});
    EXPECT_EQ(outcome.out, "ok\n") << outcome.err;
  }
}

/// Whoever adopts orphans may not reap them: a container's first process, say.
TEST(Front, LeavesNobodyToReap) {
  ASSERT_EQ(::prctl(PR_SET_CHILD_SUBREAPER, 1), 0);
  const std::size_t before = ChildrenOf(::getpid()).size();
  for (int i = 0; i < 5; ++i) {
    EXPECT_EQ(Igloo({"run", "--env", "shell", "(sleep 100 &) ; exit 3"}).status, 3);
    EXPECT_EQ(Igloo({"run", "--env", "shell", "--timeout", "0.1", "sleep 100"}).status, 124);
  }
  EXPECT_EQ(ChildrenOf(::getpid()).size(), before);
  ASSERT_EQ(::prctl(PR_SET_CHILD_SUBREAPER, 0), 0);
}

/// The whole foreground group hears Ctrl-C; only igloo may decide what it means.
TEST(Front, AKeyAtTheTerminalInterruptsTheCodeAlone) {
  for (const char* backend : OfferedWalls()) {
    Terminal terminal(BinDirectory() + "/igloo",
                      {"run", "--env", "python", "--backend", backend,
                       "import time\n"
                       // Short ones: a signal just before a sleep is heard after it.
                       "try:\n  print('rea' + 'dy', flush=True)\n  while True: time.sleep(0.01)\n"
                       "except KeyboardInterrupt:\n  print('heard', flush=True); exit(5)\n"});
    ASSERT_TRUE(terminal.WaitForOutput("ready")) << terminal.output();
    terminal.Type("\x03");
    EXPECT_EQ(terminal.Finish(), 5) << backend << terminal.output();
    EXPECT_THAT(terminal.output(), HasSubstr("heard"));
  }
}

/// What the launcher makes ahead is what plans ask for; anything else would only cost time, and
/// nobody would notice.
TEST(Front, TheUsualMemoryIsWhatRunsUse) {
  const auto environment =
      environment::MakeHostEnvironment("shell", environment::ReadHostLayout()).value();
  const auto policy =
      environment::PolicyForRun(environment, {.what = environment::Program{{"/bin/true"}}}).value();
  const auto plan =
      sandbox::MakePlan(policy, environment::GatherFacts(sandbox::SourcesOf(policy))).value();
  unsigned seen = 0;
  for (const auto* steps : {&plan.environment, &plan.fresh, &plan.run}) {
    const std::string list = sandbox::Encode(*steps);
    ops::Reader reader(list.data(), static_cast<std::uint32_t>(list.size()));
    while (const ops::Op* op = reader.Next()) {
      const ops::Code code = op->code;
      if (code != ops::Code::kRoot && code != ops::Code::kTmpfs) continue;
      const ops::Memory memory{op->bytes, op->inodes, code == ops::Code::kRoot ? 0755 : op->mode,
                               (op->flags & ops::kFlagNoExec) != 0};
      EXPECT_THAT(ops::kUsualMemory, Contains(memory)) << op->path();
      ++seen;
    }
  }
  EXPECT_EQ(seen, std::size(ops::kUsualMemory));
}

}  // namespace
}  // namespace igloo::testing
