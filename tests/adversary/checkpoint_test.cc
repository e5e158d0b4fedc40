// Interpreters that are restored from a checkpoint: what the environment brings runs behind a
// finished wall, before the checkpoint is made and after.
#include <gmock/gmock.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>

#include "base/spawn.h"
#include "base/temp_dir.h"
#include "false_copier.h"
#include "support/configured.h"
#include "support/host.h"
#include "support/igloo.h"
#include "support/interpreters.h"
#include "support/mcp.h"
#include "walled.h"

namespace igloo::testing {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using From = Interpreters::From;

std::vector<pid_t> PythonsBelow(pid_t pid) {
  std::vector<pid_t> found;
  for (const ProcessInfo& each : DescendantsOf(pid)) {
    if (each.name.starts_with("python")) found.push_back(each.pid);
  }
  return found;
}

TEST(CheckpointWall, ItsFileIsOutOfReachForWhatIsRestored) {
  Interpreters bench("python");
  const auto one = bench.Open(From::kCheckpoint);
  const auto other = bench.Open(From::kCheckpoint);
  ASSERT_TRUE(one && other) << bench.error();
  const std::string look = R"py(
import os
links = []
for number in os.listdir("/proc/self/fd"):
    try: links.append(os.readlink(f"/proc/self/fd/{number}").split(":")[0])
    except OSError: pass
print(sorted(link if link in ("pipe", "/dev/null") else link for link in links if "proc" not in link))
opened = []
for place in os.listdir("/proc/self/map_files") if os.access("/proc/self/map_files", os.R_OK) else []:
    try: opened.append(os.open(f"/proc/self/map_files/{place}", os.O_RDWR))
    except OSError: pass
print([os.readlink(f"/proc/self/fd/{n}") for n in opened if "memfd" in os.readlink(f"/proc/self/fd/{n}")])
print([name for name in os.listdir("/proc") if name.isdigit() and int(name) not in (1, os.getpid())], os.getppid())
)py";
  for (const auto* each : {&one, &other}) {
    EXPECT_EQ(bench.Say(**each, look), "['/dev/null', 'pipe', 'pipe', 'pipe', 'pipe']\n[]\n[] 1\n");
  }
}

/// What one of them writes into memory that all of them were restored from, no other one gets.
TEST(CheckpointWall, NobodyWritesIntoWhatOthersGet) {
  Interpreters bench("python");
  const auto one = bench.Open(From::kCheckpoint);
  ASSERT_TRUE(one) << bench.error();
  // Over every page that can be written to, where a word of the driver's own stands.
  const std::string spoil = R"py(
import ctypes, re
words = 0
for line in open("/proc/self/maps"):
    place, rights = line.split()[:2]
    if "memfd" not in line or "rw" not in rights: continue
    begin, end = (int(each, 16) for each in place.split("-"))
    for found in re.finditer(b"standin", ctypes.string_at(begin, end - begin)):
        ctypes.memmove(begin + found.start(), b"STANDIN", 7)
        words += 1
print(words > 0)
)py";
  EXPECT_EQ(bench.Say(*one, spoil), "True\n");
  const auto other = bench.Open(From::kCheckpoint);
  ASSERT_TRUE(other) << bench.error();
  EXPECT_EQ(bench.Say(*other, R"py(
import ctypes, re
spoilt = 0
for line in open("/proc/self/maps"):
    place, rights = line.split()[:2]
    if "memfd" not in line or "rw" not in rights: continue
    begin, end = (int(each, 16) for each in place.split("-"))
    spoilt += len(re.findall(b"STAND[I]N", ctypes.string_at(begin, end - begin)))
print(spoilt)
)py"),
            "0\n");
}

TEST(CheckpointWall, WhatIsRestoredHasIdsOfItsOwnOutside) {
  Interpreters bench("python");
  const auto one = bench.Open(From::kCheckpoint);
  const auto other = bench.Open(From::kCheckpoint);
  ASSERT_TRUE(one && other) << bench.error();
  // The one from which the checkpoint was made may only be ending.
  ASSERT_TRUE(WaitFor([] { return PythonsBelow(::getpid()).size() == 2; }, 30));
  std::vector<std::string> ids;
  for (const pid_t pid : PythonsBelow(::getpid())) ids.push_back(StatusOf(pid, "Uid"));
  const std::size_t different = std::set<std::string>(ids.begin(), ids.end()).size();
  if (RunningAsRoot()) {
    EXPECT_EQ(different, 2U) << ::testing::PrintToString(ids);
    EXPECT_THAT(ids, Not(Contains(::testing::StartsWith("0\t"))));
  }
}

/// A directory with a module that Python loads before any program, if it is told to look there.
class HostileStart : public ::testing::Test {
 protected:
  HostileStart() {
    std::ofstream(directory_.path() + "/sitecustomize.py") << kModule;
    std::filesystem::permissions(directory_.path(), std::filesystem::perms(0755));
  }

  /// Tells on standard error who it is, and what it can see of others.
  static constexpr const char* kModule = R"py(
import os, sys
status = dict(line.split(":", 1) for line in open("/proc/self/status"))
others = [name for name in os.listdir("/proc") if name.isdigit() and int(name) not in (1, os.getpid())]
def entered():
    import ctypes
    libc, count = ctypes.CDLL(None), 0
    for pid in ["1", *others]:
        try: fd = os.open(f"/proc/{pid}/ns/net", os.O_RDONLY)
        except OSError: continue
        count += libc.setns(fd, 0) == 0
    return count
print("walled" if status["CapEff"].strip("\t\n0") == "" and status["NoNewPrivs"].strip() == "1" and
      status["Seccomp"].strip() == "2" and not others and not entered() else "free", file=sys.stderr)
)py";

  TempDir directory_ = TempDir::Make(TempParent()).value();
};

/// The attack's control: without a wall it is free.
TEST_F(HostileStart, OutsideItSeesOthers) {
  const Outcome outside =
      RunProgram({.program = "/usr/bin/python3",
                  .args = {"-c", "pass"},
                  .env = {"PATH=/usr/bin:/bin", "PYTHONPATH=" + directory_.path()}});
  EXPECT_THAT(outside.err, HasSubstr("free"));
}

/// What an environment's Python loads by itself runs in a sandbox, wherever the environment is
/// from.
TEST_F(HostileStart, WhatAnEnvironmentLoadsRunsBehindTheWallAlsoForACheckpoint) {
  Interpreters bench("python", {.project = environment::Project{.path = directory_.path()},
                                .variables = {{"PYTHONPATH", "/project"}}});
  const auto checkpoint = bench.MakeCheckpoint({"sitecustomize"});
  ASSERT_TRUE(checkpoint) << checkpoint.error().what;
  const std::vector<std::string> said = (*checkpoint)->TakeComplaints();
  EXPECT_THAT(said, Contains("walled")) << "it never ran";
  EXPECT_THAT(said, Not(Contains("free")));
}

/// Everything that a server has started, at many moments while it works: either igloo's own
/// program, or behind a finished wall.
class ProcessesOfAServer : public Configured {};
TEST_F(ProcessesOfAServer, AreIgloosOwnOrBehindAFinishedWall) {
  Write(kUsual, "[environments.python]\npreload = [\"json\", \"decimal\"]\n");
  McpClient client({.env = {"PATH=/usr/bin:/bin", "HOME=" + Path("")}});
  client.Initialize();
  const pid_t server = client.running().pid();
  WallLook look(BinDirectory());
  for (int round = 0; round < 12; ++round) {
    std::vector<std::int64_t> asked;
    for (const char* environment : {"python", "node", "shell"}) {
      const std::string code = environment == std::string("shell") ? "echo 1" : "1";
      asked.push_back(client.Send(
          "tools/call", {{"name", "run"}, {"arguments", {{"env", environment}, {"code", code}}}}));
      asked.push_back(client.Send(
          "tools/call",
          {{"name", "run"},
           {"arguments", {{"env", environment}, {"code", code}, {"session", environment}}}}));
    }
    for (int moment = 0; moment < 20; ++moment) look.At(server);
    for (const std::int64_t id : asked) EXPECT_FALSE(client.Wait(id).empty());
    for (int moment = 0; moment < 5; ++moment) look.At(server);
  }
  EXPECT_THAT(look.trespassers(), IsEmpty());
  EXPECT_GT(look.walled(), 0U) << "no interpreter was ever seen";
  EXPECT_GT(look.own(), 0U);
}

/// The control: an interpreter without a wall is found.
TEST_F(ProcessesOfAServer, AnInterpreterWithoutAWallWouldBeSeen) {
  const auto child = Spawn(
      {.program = "/usr/bin/python3", .argv = {"python3", "-c", "import time; time.sleep(60)"}});
  ASSERT_TRUE(child);
  WallLook look(BinDirectory());
  EXPECT_TRUE(WaitFor([&] {
    look.At(::getpid());
    return !look.trespassers().empty();
  }));
}

/// An environment decides what there is to write into a checkpoint.
class LargeCheckpoint : public ::testing::Test {
 protected:
  LargeCheckpoint() {
    std::filesystem::permissions(directory_.path(), std::filesystem::perms(0755));
  }

  /// Of an interpreter that has loaded this module.
  Result<void> MakeWith(const std::string& module, std::uint64_t memory) {
    std::ofstream(directory_.path() + "/hostile.py") << kTools << module;
    Interpreters bench("python", {.project = environment::Project{.path = directory_.path()},
                                  .memory_bytes = memory,
                                  .variables = {{"PYTHONPATH", "/project"}}});
    const auto made = bench.MakeCheckpoint({"hostile"});
    if (!made) return std::unexpected(made.error());
    EXPECT_THAT((*made)->TakeComplaints(), IsEmpty());
    return {};
  }

  static constexpr const char* kTools = R"py(
import ctypes
libc = ctypes.CDLL(None, use_errno=True)
libc.mmap.restype = ctypes.c_void_p
libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long]
libc.mprotect.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
def map(size, rights, flags, file=-1):
    at = libc.mmap(None, size, rights, flags | 0x4002, file, 0)
    assert at != 2**64 - 1
    return at
)py";

  TempDir directory_ = TempDir::Make(TempParent()).value();
};

/// Each mapping is small enough to be looked through page by page.
TEST_F(LargeCheckpoint, IsRefusedWhenThereIsTooMuchToLookAt) {
  const std::string module = "for i in range(COUNT): map((1 << 30) - 4096, i % 2, 0x20)\n";
  const auto made = MakeWith("COUNT = 40\n" + module, 512U << 20);
  ASSERT_FALSE(made);
  EXPECT_THAT(made.error().what, HasSubstr("mapped too much"));
  const auto less = MakeWith("COUNT = 4\n" + module, 512U << 20);
  EXPECT_TRUE(less) << "control: " << less.error().what;
}

/// One page of a large file that was changed makes all of it the checkpoint's, whose memory is
/// igloo's: no limit of the sandbox's counts it.
TEST_F(LargeCheckpoint, IsRefusedWhenItNeedsMoreMemoryThanASandboxHas) {
  std::ofstream(directory_.path() + "/large") << std::string(96U << 20, 'x');
  const std::string module = R"py(
file = open("/project/large", "rb")
at = map(96 << 20, 1, 0, file.fileno())
libc.mprotect(at, 4096, 3)
ctypes.memset(at, 1, 1)
libc.mprotect(at, 4096, 1)
)py";
  const auto made = MakeWith(module, 64U << 20);
  ASSERT_FALSE(made);
  EXPECT_THAT(made.error().what, HasSubstr("more memory than a sandbox may have"));
  const auto less = MakeWith(module, 512U << 20);
  EXPECT_TRUE(less) << "control: " << less.error().what;
}

/// What an igloo-copy that was taken over hands in: a memfd, right but for one thing.
constexpr const char* kFile = R"py(
def file(magic=0x31304b43474c4749, pid=order.restored_as, descriptor=order.descriptor, size=1 << 20, seals=15):
    made = os.memfd_create("checkpoint", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
    header = struct.pack("<QQQIiQIIIi", magic, 1 << 45, 65536, pid, descriptor, 4096, 1, 0, 0, 0)
    header += bytes(64) + b"/usr/bin/python3".ljust(512, b"\0") + bytes(512) + struct.pack("<Q", 32768)
    os.ftruncate(made, size)
    if size > 8192: os.pwrite(made, header, 4096)
    fcntl.fcntl(made, fcntl.F_ADD_SEALS, seals)
    return made
)py";

TEST(FalseCheckpoint, IsGivenToNobody) {
  for (const char* made :
       {"file(seals=7)", "file(seals=11)", "file(seals=13)", "file(seals=14)",  // one is missing
        "file(size=4096)", "file(size=32768)", "file(size=2 << 30)",            //
        "file(magic=1)", "file(pid=order.restored_as + 1)",                     //
        "file(descriptor=order.descriptor + 1)",                                //
        "os.open('/dev/null', os.O_RDWR)", "os.open('/', os.O_RDONLY)", "os.pipe()[0]", "3",
        "os.open('/usr/bin/python3', os.O_RDONLY)"}) {
    Interpreters bench("python");
    const FalseCopier copier(std::string(kFile) + "say(b'w', " + made + ")\n");
    bench.UseCopier(copier.program());
    const auto checkpoint = bench.MakeCheckpoint();
    ASSERT_FALSE(checkpoint) << made;
    EXPECT_THAT(checkpoint.error().what, HasSubstr("igloo-copy's checkpoint is not")) << made;
  }
  // The control: with everything right it is taken.
  Interpreters bench("python");
  const FalseCopier copier(std::string(kFile) + "say(b'w', file())\n");
  bench.UseCopier(copier.program());
  const auto checkpoint = bench.MakeCheckpoint();
  EXPECT_TRUE(checkpoint) << checkpoint.error().what;
}

TEST(CheckpointOfAServer, EndsWithIt) {
  McpClient client;
  client.Initialize();
  client.Run("python", "x = 1", {{"session", "a"}});
  client.Run("python", "print(1)");
  const pid_t server = client.running().pid();
  // The session, and what waits.
  ASSERT_TRUE(WaitFor([&] { return PythonsBelow(server).size() >= 2; }));
  std::vector<pid_t> all;
  for (const ProcessInfo& each : DescendantsOf(server)) all.push_back(each.pid);
  client.running().Signal(SIGKILL);
  EXPECT_TRUE(WaitFor([&] { return std::ranges::all_of(all, IsGone); }))
      << "a process outlived its server";
}

}  // namespace
}  // namespace igloo::testing
