// What a zygote is allowed, seen from outside, and what its children can find of it.
#include <gmock/gmock.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <sstream>

#include "support/host.h"
#include "support/igloo.h"
#include "support/interpreters.h"
#include "support/mcp.h"

namespace igloo::testing {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;
using From = Interpreters::From;

std::vector<pid_t> PythonsBelow(pid_t pid) {
  std::vector<pid_t> found;
  for (const ProcessInfo& each : DescendantsOf(pid)) {
    if (each.name.starts_with("python")) found.push_back(each.pid);
  }
  return found;
}

/// What stands behind a name in /proc/PID/status.
std::string StatusOf(pid_t pid, const std::string& name) {
  const std::string status = ReadProc("/proc/" + std::to_string(pid) + "/status");
  const std::size_t at = status.find("\n" + name + ":\t");
  if (at == std::string::npos) return "?";
  const std::size_t begin = at + name.size() + 3;
  return status.substr(begin, status.find('\n', begin) - begin);
}

std::vector<std::string> LinksBelow(const std::string& directory) {
  std::vector<std::string> links;
  for (const auto& each : std::filesystem::directory_iterator(directory)) {
    links.push_back(std::filesystem::read_symlink(each.path()).string());
  }
  return links;
}

class ZygoteWall : public ::testing::Test {
 protected:
  ZygoteWall() : bench_("python") {
    const auto started = bench_.StartZygote();
    EXPECT_TRUE(started) << started.error().what;
    if (!started) return;
    EXPECT_TRUE(WaitFor([&] { return (*started)->ready(); }));
    const std::vector<pid_t> pythons = PythonsBelow(::getpid());
    EXPECT_EQ(pythons.size(), 1U);
    if (pythons.size() == 1) zygote_ = pythons[0];
  }
  std::string File(const std::string& name) const {
    return "/proc/" + std::to_string(zygote_) + "/" + name;
  }

  Interpreters bench_;
  pid_t zygote_ = 0;
};

TEST_F(ZygoteWall, HasOneRightAndNoWayToMore) {
  ASSERT_NE(zygote_, 0);
  constexpr const char* kNone = "0000000000000000";
  constexpr const char* kSysAdmin = "0000000000200000";
  EXPECT_EQ(StatusOf(zygote_, "CapEff"), kSysAdmin);
  EXPECT_EQ(StatusOf(zygote_, "CapPrm"), kSysAdmin);
  EXPECT_EQ(StatusOf(zygote_, "CapBnd"), kSysAdmin);
  EXPECT_EQ(StatusOf(zygote_, "NoNewPrivs"), "1");
  EXPECT_EQ(StatusOf(zygote_, "Seccomp"), "2");
  // That right is one over a user namespace of its own.
  EXPECT_NE(std::filesystem::read_symlink(File("ns/user")),
            std::filesystem::read_symlink("/proc/self/ns/user"));
  const auto child = bench_.Open(From::kZygote);
  ASSERT_TRUE(child) << bench_.error();
  for (const pid_t pid : PythonsBelow(::getpid())) {
    if (pid == zygote_) continue;
    EXPECT_EQ(StatusOf(pid, "CapPrm"), kNone);
    EXPECT_EQ(StatusOf(pid, "CapBnd"), kNone);
  }
}

TEST_F(ZygoteWall, HasNoNetworkAndNoPlaceToWrite) {
  ASSERT_NE(zygote_, 0);
  const std::string devices = ReadProc(File("net/dev"));
  EXPECT_EQ(std::ranges::count(devices, ':'), 1) << devices;
  EXPECT_THAT(devices, HasSubstr("lo:"));
  EXPECT_NE(std::filesystem::read_symlink(File("ns/net")),
            std::filesystem::read_symlink("/proc/self/ns/net"));
  std::istringstream mounts(ReadProc(File("mountinfo")));
  for (std::string line; std::getline(mounts, line);) {
    std::istringstream words(line);
    std::string word, place, options;
    words >> word >> word >> word >> word >> place >> options;
    // Devices that keep nothing, and its own /proc.
    const bool nothing = place.starts_with("/dev/") || place == "/proc";
    EXPECT_TRUE(options.starts_with("ro") || (nothing && !place.starts_with("/dev/shm"))) << line;
  }
}

TEST_F(ZygoteWall, HoldsNothingOfItsCaller) {
  ASSERT_NE(zygote_, 0);
  const std::vector<std::string> links = LinksBelow(File("fd"));
  EXPECT_EQ(links.size(), 5U) << ::testing::PrintToString(links);
  EXPECT_EQ(std::ranges::count(links, "/dev/null"), 3);
  EXPECT_THAT(links, Contains(HasSubstr("socket:")));
  EXPECT_THAT(links, Contains(HasSubstr("pid:[")));
  EXPECT_EQ(ReadProc(File("environ")).find("HOME=/root"), std::string::npos);
}

/// The zygote's variables are in the memory of its children, its descriptors are not.
TEST_F(ZygoteWall, IsOutOfReachForItsChildren) {
  ASSERT_NE(zygote_, 0);
  const auto one = bench_.Open(From::kZygote);
  const auto other = bench_.Open(From::kZygote);
  ASSERT_TRUE(one && other) << bench_.error();
  const std::string look = R"py(
import gc, os, socket, sys
links = []
for number in os.listdir("/proc/self/fd"):
    try: links.append(os.readlink(f"/proc/self/fd/{number}").split(":")[0])
    except OSError: pass
print(sorted(link if link in ("pipe", "socket", "/dev/null") else "?" for link in links if "proc" not in link))
frame, numbers = sys._getframe(), {}
while frame:
    numbers |= {name: value for name, value in frame.f_locals.items() if name in ("home", "orders")}
    frame = frame.f_back
print(sorted(numbers))
print([each for each in gc.get_objects() if isinstance(each, socket.socket) and each.fileno() >= 0])
print([name for name in os.listdir("/proc") if name.isdigit() and int(name) not in (1, os.getpid())], os.getppid())
def reached(pid):
    try: os.kill(pid, 0); return True
    except ProcessLookupError: return False
    except PermissionError: return True
print([pid for pid in range(2, 70_000) if pid != os.getpid() and reached(pid)])
)py";
  for (const auto* each : {&one, &other}) {
    EXPECT_EQ(bench_.Say(**each, look),
              "['/dev/null', 'pipe', 'pipe', 'pipe', 'pipe']\n['home', 'orders']\n[]\n"
              "[] 1\n[]\n");
  }
  // Control: where they are, the same look finds them.
  EXPECT_THAT(LinksBelow(File("fd")), Contains(HasSubstr("pid:[")));
}

TEST_F(ZygoteWall, ItsChildrenHaveIdsOfTheirOwnOutside) {
  ASSERT_NE(zygote_, 0);
  const auto one = bench_.Open(From::kZygote);
  const auto other = bench_.Open(From::kZygote);
  ASSERT_TRUE(one && other) << bench_.error();
  std::vector<std::string> ids;
  for (const pid_t pid : PythonsBelow(::getpid())) ids.push_back(StatusOf(pid, "Uid"));
  ASSERT_EQ(ids.size(), 3U);
  const std::size_t different = std::set<std::string>(ids.begin(), ids.end()).size();
  // A user has one id to give, and it is theirs.
  EXPECT_EQ(different, RunningAsRoot() ? 3U : 1U) << ::testing::PrintToString(ids);
  if (RunningAsRoot()) EXPECT_THAT(ids, Not(Contains(::testing::StartsWith("0\t"))));
}

TEST_F(ZygoteWall, WordsOnItsSocketAreNotOrders) {
  ASSERT_NE(zygote_, 0);
  const auto one = bench_.Open(From::kZygote);
  ASSERT_TRUE(one) << bench_.error();
  // A child that is killed while it is adopted takes nobody along.
  bench_.Say(*one, "import os; os.kill(os.getpid(), 9)");
  EXPECT_TRUE(bench_.Open(From::kZygote)) << bench_.error();
  EXPECT_FALSE(IsGone(zygote_));
}

TEST(ZygoteOfAServer, EndsWithIt) {
  McpClient client;
  client.Initialize();
  client.Run("python", "x = 1", {{"session", "a"}});
  client.Run("python", "print(1)");
  const pid_t server = client.running().pid();
  // The zygote, the session, and what waits.
  ASSERT_TRUE(WaitFor([&] { return PythonsBelow(server).size() >= 2; }));
  std::vector<pid_t> all;
  for (const ProcessInfo& each : DescendantsOf(server)) all.push_back(each.pid);
  client.running().Signal(SIGKILL);
  EXPECT_TRUE(WaitFor([&] { return std::ranges::all_of(all, IsGone); }))
      << "a process outlived its server";
}

}  // namespace
}  // namespace igloo::testing
