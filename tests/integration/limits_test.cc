// Every limit bites, its verdict names it, and the host never notices. As root the sandbox is
// counted by a cgroup where the machine has them; as a user igloo-init looks after it.

#include <gmock/gmock.h>
#include <signal.h>
#include <sys/resource.h>

#include <boost/json.hpp>
#include <filesystem>

#include "base/replace_file.h"
#include "base/temp_dir.h"
#include "cgroup/groups.h"
#include "support/host.h"
#include "support/igloo.h"
#include "support/running.h"
#include "support/sandbox.h"

namespace igloo::testing {
namespace {

using ::testing::AnyOf;
using ::testing::HasSubstr;
using ::testing::Not;

struct Ended {
  std::string verdict = {};
  int exit_code = 0;
  std::string out = {}, err = {};
};

/// Runs Python code behind `backend` and reads what --json says of it.
Ended Run(const std::string& code, std::vector<std::string> options = {},
          const std::string& backend = "jail", const std::string& environment = "python") {
  std::vector<std::string> args = {"run", "--env", environment, "--backend", backend, "--json"};
  args.insert(args.end(), options.begin(), options.end());
  args.push_back(code);
  const Outcome outcome = Igloo(args);
  EXPECT_NE(outcome.out, "") << outcome.err;
  if (outcome.out.empty()) return {};
  const auto document = boost::json::parse(outcome.out).as_object();
  const auto text = [&](const char* stream) {
    return std::string(document.at(stream).at("text").as_string());
  };
  return {.verdict = std::string(document.at("verdict").as_string()),
          .exit_code = document.at("exit_code").to_number<int>(),
          .out = text("stdout"),
          .err = text("stderr")};
}

bool Counted() { return cgroup::Find().kind != cgroup::Kind::kNone; }

/// The processors that a process is held to, as the host sees it: thousandths; 0: all of them.
std::uint64_t MillicpusOf(pid_t pid) {
  const std::string own = ReadProc("/proc/" + std::to_string(pid) + "/cgroup");
  for (std::size_t at = 0; at < own.size();) {
    const std::string line = own.substr(at, own.find('\n', at) - at);
    at += line.size() + 1;
    const std::size_t colon = line.find(':'), path = line.find(':', colon + 1) + 1;
    const std::string tree = line.substr(colon + 1, path - colon - 2);
    const bool first = tree == "cpu" || tree == "cpu,cpuacct";
    if (!first && !line.starts_with("0::")) continue;
    const std::string file = "/sys/fs/cgroup" + (first ? "/" + tree : "") + line.substr(path) +
                             (first ? "/cpu.cfs_quota_us" : "/cpu.max");
    const std::string quota = ReadProc(file);
    if (!quota.empty() && quota[0] >= '0' && quota[0] <= '9') return std::stoull(quota) / 100;
  }
  return 0;
}

class Limits : public ::testing::TestWithParam<const char*> {
 protected:
  Ended Run(const std::string& code, std::vector<std::string> options = {}) {
    return testing::Run(code, std::move(options), GetParam());
  }
};

/// As much for each of eight processes as one alone may have; all together far too much.
constexpr const char* kManyEaters =
    "import os, time\n"
    "for i in range(8):\n"
    "  if os.fork() == 0:\n"
    "    x = bytearray(60 << 20)\n"
    "    for j in range(0, len(x), 4096): x[j] = 1\n"
    "    time.sleep(60)\n"
    "for i in range(8): os.wait()\n"
    "os._exit(3)\n";

TEST_P(Limits, MemoryInManySmallProcesses) {
  const Ended ended = Run(kManyEaters, {"--memory", "128"});
  EXPECT_EQ(ended.verdict, "memory") << ended.err;
  EXPECT_NE(ended.exit_code, 0);
  EXPECT_EQ(Run("x = bytearray(60 << 20)", {"--memory", "128"}).verdict, "ok") << "control";
}

TEST_P(Limits, ProcessorsOfAllProcessesTogether) {
  const TempDir home = TempDir::Make(TempParent()).value();
  const std::string config = home.path() + "/config.toml";
  ASSERT_TRUE(ReplaceFile(config, "[environments.shell.limits]\ncpus = 0.25\n"));
  std::filesystem::permissions(home.path(), std::filesystem::perms(0755));
  std::filesystem::permissions(config, std::filesystem::perms(0644));
  const auto held = [&](std::vector<std::string> options) {
    const std::string marker = UniqueMarker();
    std::vector<std::string> args = {"run", "--env", "shell", "--backend", GetParam()};
    args.insert(args.end(), options.begin(), options.end());
    // One that the code starts, and what that starts.
    args.push_back("(bash -c 'read x; :' " + marker + "); echo done");
    Running running({.program = BinDirectory() + "/igloo",
                     .args = args,
                     .env = {"PATH=/usr/bin:/bin", "HOME=/nonexistent"}});
    const pid_t pid = WaitForMarked(marker);
    EXPECT_NE(pid, 0) << running.errors();
    const std::uint64_t millicpus = MillicpusOf(pid);
    const std::string said = running.Finish().err;
    return std::pair(millicpus, said);
  };
  const auto [limited, said] = held({"--config", config});
  if (cgroup::WhyNoCpus(cgroup::Find()).empty()) {
    EXPECT_EQ(limited, 250U);
    EXPECT_THAT(said, Not(HasSubstr("nobody limits processors")));
  } else {
    EXPECT_THAT(said, HasSubstr("nobody limits processors to 0.25 here: "));
  }
  EXPECT_EQ(held({}).first, 0U) << "control";
}

TEST_P(Limits, MemoryOfOneProcess) {
  const Ended ended =
      Run("import time\nx = [str(i) * (1 << 20) for i in range(10, 400)]\ntime.sleep(60)",
          {"--memory", "128"});
  EXPECT_EQ(ended.verdict, "memory") << ended.err;
}

TEST_P(Limits, MemoryThatIsShared) {
  const Ended ended =
      Run("import mmap, time\n"
          "m = [mmap.mmap(-1, 64 << 20) for i in range(8)]\n"
          "for x in m:\n"
          "  for j in range(0, 64 << 20, 4096): x[j] = 1\n"
          "time.sleep(60)\n",
          {"--memory", "128"});
  EXPECT_EQ(ended.verdict, "memory") << ended.err;
}

TEST_P(Limits, MemoryInFilesOfMemory) {
  const Ended ended =
      Run("import os, time\n"
          "f = os.memfd_create('x')\n"
          "for i in range(512): os.write(f, b'x' * (1 << 20))\n"
          "time.sleep(60)\n",
          {"--memory", "128"});
  if (Counted()) {
    EXPECT_EQ(ended.verdict, "memory") << ended.err;
    const Ended few = Run("import os; print(os.write(os.memfd_create('x'), b'abc'))");
    EXPECT_EQ(few.out, "3\n") << "control: a little is fine " << few.err;
  } else {
    EXPECT_EQ(ended.verdict, "exit");
    EXPECT_THAT(ended.err, HasSubstr("Function not implemented"));
  }
}

TEST_P(Limits, FilesInMemory) {
  for (const char* place : {"/tmp", "/workspace", "/dev/shm"}) {
    const Ended ended = Run("f = open('" + std::string(place) +
                                "/x', 'wb')\n"
                                "for i in range(1024): f.write(b'x' * (1 << 20))\n",
                            {"--memory", "128"});
    EXPECT_THAT(ended.verdict, AnyOf("disk", "memory")) << place << ended.err;
  }
  EXPECT_EQ(Run("open('/tmp/x', 'wb').write(b'x' * (8 << 20))").verdict, "ok") << "control";
}

TEST_P(Limits, ManyFiles) {
  const Ended ended =
      Run("for i in range(10**7): open(f'/tmp/{i}', 'w').close()\n", {"--timeout", "10"});
  if (std::string(GetParam()) == "bubblewrap") {
    // It cannot limit how many there are; what bounds them is memory and time.
    EXPECT_THAT(ended.verdict, AnyOf("timeout", "memory", "disk")) << ended.err;
  } else {
    EXPECT_EQ(ended.verdict, "disk") << ended.err;
    EXPECT_THAT(ended.err, HasSubstr("No space left"));
  }
}

TEST_P(Limits, OneLargeFile) {
  const Ended ended =
      Run("import signal; signal.signal(signal.SIGXFSZ, signal.SIG_DFL)\n"
          "import os; os.truncate(os.open('/tmp/x', os.O_CREAT | os.O_RDWR), 1 << 40)\n");
  EXPECT_EQ(ended.verdict, "disk") << ended.err;
  EXPECT_EQ(ended.exit_code, 128 + SIGXFSZ);
}

TEST_P(Limits, AThousandChildren) {
  const Ended ended =
      Run("import os, time\n"
          "for i in range(1000):\n"
          "  if os.fork() == 0: time.sleep(60)\n");
  EXPECT_EQ(ended.verdict, "processes") << ended.err;
  EXPECT_THAT(ended.err, HasSubstr("Resource temporarily unavailable"));
  const Ended few =
      Run("import os\n"
          "for i in range(100):\n"
          "  if os.fork() == 0: os._exit(0)\n"
          "exit(3)\n");
  EXPECT_EQ(few.verdict, "exit") << "control: a hundred are fine, zombies too";
}

TEST_P(Limits, DescriptorsWithoutEnd) {
  const Ended ended = Run("x = []\nwhile True: x.append(open('/dev/null'))\n");
  EXPECT_EQ(ended.verdict, "exit");
  EXPECT_THAT(ended.err, HasSubstr("Too many open files"));
}

TEST_P(Limits, OutputWithoutEnd) {
  const Ended ended = testing::Run("exec cat /dev/zero", {"--timeout", "100"}, GetParam(), "shell");
  EXPECT_EQ(ended.verdict, "output");
  EXPECT_EQ(ended.out.size(), 8U << 20);
}

INSTANTIATE_TEST_SUITE_P(Walls, Limits, ::testing::ValuesIn(OfferedWalls()),
                         [](const auto& test) { return std::string(test.param); });

TEST(LimitsOfTime, OfTheProcessorIsAVerdictToo) {
  Workbench bench(backend::jail::Mode::kCold);
  const sandbox::Plan plan =
      PlanForProgram({"/bin/sh", "-c", "while :; do :; done"},
                     [](sandbox::Policy& policy) { policy.limits.cpu_seconds = 1; });
  const session::RunResult result = bench.Run(plan).value();
  EXPECT_EQ(result.verdict, session::Verdict::kTimeout);
  EXPECT_EQ(result.exit_code, 124);
}

/// igloo's lock on a leaf goes a moment before what its sandbox had in memory.
TEST(LimitsOfGroups, ALeafThatIsNotFreeYetIsNotUsed) {
  for (int i = 0; i < 20; ++i) {
    const Outcome large = Igloo({"run", "--env", "shell", "--memory", "512",
                                 "head -c 120000000 /dev/zero > /tmp/x; (sleep 100 &)"});
    EXPECT_EQ(large.status, 0) << large.err;
    const Outcome small = Igloo({"run", "--env", "shell", "--memory", "16", "echo ok"});
    EXPECT_EQ(small.out, "ok\n") << small.err;
  }
}

/// What sandboxes leave in the tree of cgroups: the leaves that the next ones use, and no more.
TEST(LimitsOfGroups, LeavesAreUsedAgain) {
  const auto count = [] {
    const std::string table = ReadProc("/proc/cgroups");
    const std::size_t at = table.find("\nmemory\t");
    return at == table.npos ? std::string() : table.substr(at, table.find('\n', at + 1) - at);
  };
  for (int i = 0; i < 20; ++i) Igloo({"run", "--env", "shell", "true"});
  const std::string before = count();
  for (int i = 0; i < 50; ++i) EXPECT_EQ(Igloo({"run", "--env", "shell", "true"}).status, 0);
  EXPECT_EQ(count(), before);
}

TEST(LimitsOfGroups, AreNotSeenFromInside) {
  const Outcome outcome = Igloo({"run", "--env", "shell", "cat /proc/self/cgroup"});
  EXPECT_THAT(outcome.out, ::testing::Not(HasSubstr("igloo")));
  EXPECT_THAT(outcome.out, ::testing::Not(HasSubstr("..")));
}

}  // namespace
}  // namespace igloo::testing
