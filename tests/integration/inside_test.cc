// What the code gets: variables, descriptors and an id of its own, seen from outside.

#include <gmock/gmock.h>
#include <unistd.h>

#include <cstdio>

#include "jail/identity.h"
#include "sandbox/policy.h"
#include "support/host.h"
#include "support/igloo.h"
#include "support/running.h"
#include "support/sandbox.h"

namespace igloo::testing {
namespace {

using backend::jail::Mode;

/// `true` for an id that `maker`, a launcher or a template, may hand out.
bool IsOfBlock(std::uint64_t id, pid_t maker) {
  const std::uint32_t base = jail::BlockOf(sandbox::Identity{}.host_id_base, maker);
  return id >= base && id < base + jail::kBlockSize;
}

/// Started by root, an id from the block of who made the sandbox: the launcher, or the template
/// that is the launcher's child. Started by a user, the user's own, or one of its subordinate ids.
void ExpectSafeId(pid_t payload, pid_t starter, Mode mode,
                  const backend::jail::IdRange& subordinate = {}) {
  const auto map = ReadUidMap(payload);
  ASSERT_TRUE(map) << "no map of " << payload;
  EXPECT_EQ(map->inside, 1000U);
  EXPECT_EQ(map->count, 1U);
  if (!RunningAsRoot() && subordinate.count > 0) {
    EXPECT_LT(map->outside - subordinate.first, subordinate.count);
    return;
  }
  if (!RunningAsRoot()) {
    EXPECT_EQ(map->outside, ::getuid());
    return;
  }
  const pid_t launcher = LauncherAbove(payload, starter);
  ASSERT_NE(launcher, 0);
  const pid_t maker = mode == Mode::kPrepared ? LauncherAbove(payload, launcher) : launcher;
  ASSERT_NE(maker, 0);
  EXPECT_TRUE(IsOfBlock(map->outside, maker)) << map->outside << " of " << maker;
}

std::vector<std::string> Waiting(const std::string& marker) {
  return {"/bin/sh", "-c", "echo ready; read line", marker};
}

TEST(Inside, HasExactlyTheseVariables) {
  const std::string common =
      "HOME=/workspace\nLANG=C.UTF-8\nPATH=/usr/local/bin:/usr/bin:/bin\n"
      "PWD=/workspace\n";
  const std::string rest = "TERM=dumb\nTMPDIR=/tmp\nUSER=user\n";
  const auto variables = [](const std::string& environment) {
    const Outcome outcome =
        RunProgram({.program = BinDirectory() + "/igloo",
                    .args = {"run", "--env", environment, "--", "/usr/bin/env"},
                    .env = {"PATH=/usr/bin", "HOME=/root", "SECRET=1", "LD_PRELOAD_NOT=x",
                            "TERM=xterm", "LANG=de_DE.UTF-8", "IGLOO_X=y"}});
    EXPECT_EQ(outcome.status, 0) << outcome.err;
    return outcome.out;
  };
  EXPECT_EQ(variables("shell"), common + rest);
  EXPECT_EQ(variables("node"), common + rest);
  EXPECT_EQ(variables("python"), common + "PYTHONPATH=/workspace\n" + rest);
}

/// Every open descriptor, found without opening another one.
constexpr const char* kListDescriptors =
    "import os\n"
    "def is_open(fd):\n"
    "  try: os.fstat(fd); return True\n"
    "  except OSError: return False\n"
    "print([fd for fd in range(4096) if is_open(fd)])\n";

TEST(Inside, HasExactlyThreeDescriptors) {
  const std::string leaky = "exec 3</dev/null 7</etc/passwd 9</";
  const Outcome control = RunProgram(
      {.program = "/bin/sh",
       .args = {"-c", leaky + "; exec \"$0\" \"$@\"", "/usr/bin/python3", "-c", kListDescriptors}});
  ASSERT_EQ(control.out, "[0, 1, 2, 3, 7, 9]\n") << "control: the leak must be real";
  const std::vector<std::string> program = {"--", "/usr/bin/python3", "-c", kListDescriptors};
  for (const char* backend : OfferedWalls()) {
    std::vector<std::string> args = {"run", "--env", "python", "--backend", backend};
    args.insert(args.end(), program.begin(), program.end());
    const Outcome outcome = RunProgram(IglooAfter(leaky, args));
    EXPECT_EQ(outcome.status, 0) << outcome.err;
    EXPECT_EQ(outcome.out, "[0, 1, 2]\n") << backend;
  }
}

TEST(Inside, HasAnUnprivilegedIdOutside) {
  for (const char* backend : OfferedWalls()) {
    const std::string marker = UniqueMarker();
    std::vector<std::string> args = {"run", "--env", "shell", "--backend", backend, "--"};
    for (const std::string& word : Waiting(marker)) args.push_back(word);
    Running igloo = StartIgloo(args);
    ASSERT_TRUE(igloo.WaitForOutput("ready\n")) << igloo.Finish().err;
    const pid_t payload = WaitForMarked(marker);
    ASSERT_NE(payload, 0);
    if (backend == std::string("jail")) {
      ExpectSafeId(payload, igloo.pid(), Mode::kCold);
    } else if (backend == std::string("container")) {
      const std::string status = ReadProc("/proc/" + std::to_string(payload) + "/status");
      unsigned id = 0;
      ASSERT_EQ(std::sscanf(status.c_str() + status.find("\nUid:"), " Uid: %u", &id), 1) << status;
      EXPECT_GE(id, 0x50000000U);
      EXPECT_EQ(id % 65536, 1000U) << "the user of a block of the container's own";
    } else {
      const auto map = ReadUidMap(payload);
      ASSERT_TRUE(map);
      EXPECT_TRUE(RunningAsRoot() ? IsOfBlock(map->outside, igloo.pid())
                                  : map->outside == ::getuid());
    }
    EXPECT_EQ(igloo.Finish().status, 1) << "read saw the end of its input";
  }
}

TEST(Inside, HasAnUnprivilegedIdOutsideWhenPrepared) {
  Workbench bench(Mode::kPrepared);
  const std::string one = UniqueMarker();
  const std::string two = UniqueMarker();
  const sandbox::Plan first_plan = PlanForProgram(Waiting(one));
  const sandbox::Plan second_plan = PlanForProgram(Waiting(two));
  LiveRun first(bench, first_plan);
  LiveRun second(bench, second_plan);
  ASSERT_TRUE(first.WaitForOutput("ready\n"));
  ASSERT_TRUE(second.WaitForOutput("ready\n"));
  const pid_t first_pid = WaitForMarked(one);
  const pid_t second_pid = WaitForMarked(two);
  ASSERT_NE(first_pid, 0);
  ASSERT_NE(second_pid, 0);
  const backend::jail::IdRange subordinate = bench.backend().host_ids().value().users;
  ExpectSafeId(first_pid, ::getpid(), Mode::kPrepared, subordinate);
  ExpectSafeId(second_pid, ::getpid(), Mode::kPrepared, subordinate);
  if (RunningAsRoot() || subordinate.count > 0) {
    EXPECT_NE(ReadUidMap(first_pid)->outside, ReadUidMap(second_pid)->outside);
  } else {
    EXPECT_EQ(*ReadUidMap(first_pid), *ReadUidMap(second_pid));
  }
  EXPECT_TRUE(first.Finish());
  EXPECT_TRUE(second.Finish());
}

TEST(Inside, NeverSharesAnIdBetweenLaunchers) {
  if (!RunningAsRoot()) {
    // A user has one id; what keeps two sandboxes apart is their namespaces alone.
    const Outcome outcome = Igloo({"run", "--env", "shell", "cat /proc/self/uid_map"});
    EXPECT_THAT(outcome.out, ::testing::HasSubstr(" " + std::to_string(::getuid()) + " "));
    return;
  }
  const std::string one = UniqueMarker();
  const std::string two = UniqueMarker();
  Running first(
      {.program = BinDirectory() + "/igloo",
       .args = {"run", "--env", "shell", "--", "/bin/sh", "-c", "echo ready; read line", one}});
  Running second(
      {.program = BinDirectory() + "/igloo",
       .args = {"run", "--env", "shell", "--", "/bin/sh", "-c", "echo ready; read line", two}});
  ASSERT_TRUE(first.WaitForOutput("ready\n"));
  ASSERT_TRUE(second.WaitForOutput("ready\n"));
  EXPECT_NE(ReadUidMap(WaitForMarked(one))->outside, ReadUidMap(WaitForMarked(two))->outside);
}

}  // namespace
}  // namespace igloo::testing
