// The container: what is its own beside what every wall must do. Root alone has it, so every test
// sees another user refused.

#include <gmock/gmock.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <set>
#include <thread>

#include "support/agent_box.h"
#include "support/configured.h"
#include "support/host.h"
#include "support/mcp.h"
#include "support/running.h"

namespace igloo::testing {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

std::vector<std::string> InContainer(std::vector<std::string> more) {
  more.insert(more.begin(), {"run", "--env", "shell", "--backend", "container"});
  return more;
}

/// Whether this user is refused, as every one but root has to be.
bool IsRefused() {
  if (RunningAsRoot()) return false;
  const Outcome refused = Igloo(InContainer({"echo ran"}));
  EXPECT_EQ(refused.status, 125);
  EXPECT_EQ(refused.out, "");
  EXPECT_THAT(refused.err, AllOf(HasSubstr("the backend 'container' can only be started by root"),
                                 HasSubstr("start it with sudo")));
  return true;
}

/// A container whose code waits, and what the host sees of it.
class Waiting {
 public:
  Waiting() : igloo_(StartIgloo(Arguments(marker_))) {
    EXPECT_TRUE(igloo_.WaitForOutput("ready\n")) << igloo_.errors();
  }
  Running& igloo() { return igloo_; }
  pid_t payload() const { return WaitForMarked(marker_); }
  bool Ended() const { return FindMarked(marker_).empty(); }
  /// The nearest process of that name below igloo; 0: there is none.
  pid_t Find(const std::string& name) const {
    for (const ProcessInfo& each : DescendantsOf(igloo_.pid())) {
      if (each.name == name) return each.pid;
    }
    return 0;
  }
  /// The code's user outside.
  unsigned user() const {
    const std::string status = ReadProc("/proc/" + std::to_string(payload()) + "/status");
    unsigned id = 0;
    const std::size_t at = status.find("\nUid:");
    EXPECT_EQ(std::sscanf(status.c_str() + (at == status.npos ? 0 : at), " Uid: %u", &id), 1);
    return id;
  }

 private:
  static std::vector<std::string> Arguments(const std::string& marker) {
    return InContainer({"--", "/usr/bin/bash", "-c", "echo ready; read -r line", marker});
  }
  std::string marker_ = UniqueMarker();
  Running igloo_;
};

std::set<std::string> NamesIn(const std::string& directory) {
  std::set<std::string> names;
  std::error_code error;
  for (fs::directory_iterator each(directory, error), end; !error && each != end;
       each.increment(error)) {
    names.insert(each->path().filename());
  }
  return names;
}

/// What the engine of a killed container could leave on the host: directories under known names.
std::set<std::string> LeftInSharedPlaces() {
  std::set<std::string> left;
  for (const char* place : {"/tmp", "/run/systemd/nspawn", "/run/systemd/nspawn/propagate",
                            "/run/systemd/nspawn/unix-export", "/run/systemd/nspawn/locks"}) {
    for (const std::string& name : NamesIn(place)) {
      if (name.contains("nspawn") || name.contains("igloo-")) left.insert(name);
    }
  }
  return left;
}

/// The cgroups of containers that nobody has any more.
std::vector<std::string> CgroupsWithoutContainer() {
  std::vector<std::string> left;
  for (const char* tree : {"/sys/fs/cgroup", "/sys/fs/cgroup/unified", "/sys/fs/cgroup/systemd"}) {
    for (const std::string& name : NamesIn(tree)) {
      if (!name.starts_with("igloo-container-")) continue;
      const UniqueFd group(
          ::open((std::string(tree) + "/" + name).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
      if (group && ::flock(group.get(), LOCK_EX | LOCK_NB) == 0) left.push_back(name);
    }
  }
  return left;
}

TEST(Container, IsRootsAlone) {
  if (IsRefused()) return;
  const Outcome outcome = Igloo(InContainer({"id -u; exit 7"}));
  EXPECT_EQ(outcome.out, "1000\n") << outcome.err;
  EXPECT_EQ(outcome.status, 7);
}

TEST(Container, ShowsItsCommandToEverybodyAndStartsNothing) {
  const Outcome shown = Igloo(InContainer({"--dry-run", "--as", "nspawn", "echo ran"}));
  EXPECT_EQ(shown.status, 0) << shown.err;
  EXPECT_THAT(shown.out, AllOf(HasSubstr("/usr/bin/systemd-nspawn"), HasSubstr("--private-users="),
                               HasSubstr("--private-network"), HasSubstr("#   start igloo-init")));
  EXPECT_THAT(shown.out, Not(HasSubstr("\nran\n")));
}

TEST(Container, HasIdsThatNoOtherHas) {
  if (IsRefused()) return;
  const Waiting one, two;
  EXPECT_NE(one.user() / 65536, two.user() / 65536);
  for (const Waiting* each : {&one, &two}) {
    const auto map = ReadUidMap(each->payload());
    ASSERT_TRUE(map);
    EXPECT_EQ(map->inside, 0U);
    EXPECT_EQ(map->count, 65536U);
    EXPECT_GE(map->outside, 0x50000000U);
    EXPECT_EQ(map->outside + 1000, each->user());
  }
}

TEST(Container, ShowsNothingOfTheEnginesOwn) {
  if (IsRefused()) return;
  const Outcome seen = Igloo(InContainer(
      {"ls -d /sys /run/host /igloo-container /dev/console /dev/net 2>/dev/null; "
       "grep -c cgroup /proc/mounts; cat /proc/1/environ; env | grep -i -e container -e LISTEN_"}));
  EXPECT_EQ(seen.out, "0\n") << seen.err;
}

/// P8: by whatever its chain is broken.
TEST(Container, EndsWithEachOfTheProcessesThatHoldIt) {
  if (IsRefused()) return;
  for (const char* name : {"igloo-container", "systemd-nspawn", "igloo-init"}) {
    Waiting container;
    ASSERT_NE(container.payload(), 0);
    const pid_t victim = container.Find(name);
    ASSERT_NE(victim, 0) << name;
    ::kill(victim, SIGKILL);
    EXPECT_TRUE(WaitFor([&] { return container.Ended(); }, 10)) << name;
    const Outcome outcome = container.igloo().Finish();
    EXPECT_EQ(outcome.status, 125) << name;
    EXPECT_THAT(outcome.err, AllOf(HasSubstr("the container ended"),
                                   HasSubstr("something on this machine killed it")))
        << name;
  }
}

TEST(Container, LeavesNothingWhenIglooIsKilled) {
  if (IsRefused()) return;
  const auto before = LeftInSharedPlaces();
  const std::string mounts = MountTable();
  {
    Waiting container;
    ASSERT_NE(container.payload(), 0);
    const pid_t engine = container.Find("systemd-nspawn");
    ASSERT_NE(engine, 0);
    EXPECT_EQ(MountTable(), mounts) << "its root is nowhere on the host";
    container.igloo().Signal(SIGKILL);
    EXPECT_TRUE(WaitFor([&] { return container.Ended() && IsGone(engine); }, 10));
  }
  EXPECT_EQ(LeftInSharedPlaces(), before);
  EXPECT_EQ(MountTable(), mounts);
  // The one thing that the kernel keeps is taken over by the next, or removed.
  EXPECT_EQ(Igloo(InContainer({"echo ok"})).out, "ok\n");
  EXPECT_THAT(CgroupsWithoutContainer(), IsEmpty());
}

TEST(Container, ALivingOneIsNotSweptAway) {
  if (IsRefused()) return;
  Waiting container;
  ASSERT_NE(container.payload(), 0);
  EXPECT_EQ(Igloo(InContainer({"echo ok"})).out, "ok\n");
  EXPECT_FALSE(container.Ended());
  EXPECT_EQ(container.igloo().Finish().status, 1) << "read saw the end of its input";
}

TEST(Container, SaysWhyTheEngineCannotWorkAndWhatToDo) {
  if (IsRefused()) return;
  const Outcome refused =
      RunProgram({.program = "/usr/bin/unshare",
                  .args = {"--mount", "/bin/sh", "-c",
                           "mount -t tmpfs none /sys && exec \"$0\" run --env shell --backend "
                           "container 'echo ran'",
                           BinDirectory() + "/igloo"},
                  .env = UsualVariables()});
  EXPECT_EQ(refused.status, 125);
  EXPECT_EQ(refused.out, "");
  EXPECT_THAT(refused.err, AllOf(HasSubstr("systemd-nspawn made no container"), HasSubstr("cgroup"),
                                 HasSubstr("/sys/fs/cgroup")));
}

TEST(Container, SaysWhichPackageIsMissing) {
  if (IsRefused()) return;
  const Outcome refused = RunProgram(
      {.program = "/usr/bin/unshare",
       .args = {"--mount", "/bin/sh", "-c",
                "mount --bind /dev/null /usr/bin/systemd-nspawn && exec \"$0\" run --env "
                "shell --backend container 'echo ran'",
                BinDirectory() + "/igloo"},
       .env = UsualVariables()});
  EXPECT_EQ(refused.status, 125);
  EXPECT_EQ(refused.out, "");
  EXPECT_THAT(refused.err, AllOf(HasSubstr("systemd-nspawn is not installed"),
                                 HasSubstr("apt install systemd-container")));
}

/// Answers the first who connects on loopback.
class Greeter {
 public:
  Greeter() {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    EXPECT_EQ(::bind(fd_.get(), reinterpret_cast<sockaddr*>(&address), size), 0);
    EXPECT_EQ(::listen(fd_.get(), 8), 0);
    EXPECT_EQ(::getsockname(fd_.get(), reinterpret_cast<sockaddr*>(&address), &size), 0);
    port_ = std::to_string(ntohs(address.sin_port));
  }
  ~Greeter() { ::shutdown(fd_.get(), SHUT_RDWR); }
  const std::string& port() const { return port_; }

 private:
  UniqueFd fd_ = UniqueFd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  std::string port_ = {};
  std::jthread thread_ = std::jthread([this] {
    const UniqueFd peer(::accept4(fd_.get(), nullptr, nullptr, SOCK_CLOEXEC));
    if (peer) EXPECT_EQ(::send(peer.get(), "hello\n", 6, MSG_NOSIGNAL), 6);
  });
};

TEST(Container, ReachesAPortOnlyIfThatWasGranted) {
  if (IsRefused()) return;
  const Greeter greeter;
  const std::string code = "head -n 1 </dev/tcp/127.0.0.1/" + greeter.port();
  EXPECT_NE(Igloo(InContainer({code})).status, 0);
  const Outcome reached = Igloo(InContainer({"--reach", greeter.port(), code}));
  EXPECT_EQ(reached.out, "hello\n") << reached.err;
}

TEST(Container, HasADeviceWhereTheNetworkIsOpen) {
  if (IsRefused()) return;
  const char* const count = "grep -c eth0 /proc/net/dev";
  EXPECT_EQ(Igloo(InContainer({count})).out, "0\n");
  const Outcome open = Igloo(InContainer({"--network", "internet", count}));
  EXPECT_EQ(open.out, "1\n") << open.err;
}

class ContainerOfProjects : public Configured {};

TEST_F(ContainerOfProjects, ChangesFilesThatStayTheirOwners) {
  if (IsRefused()) return;
  Write("project/file", "old\n");
  Write(kUsual, "[defaults]\nbackend = 'container'\n[project]\npath = '" + Path("project") +
                    "'\nmode = 'readwrite'\n[environments.shell]\npreset = 'shell'\n");
  for (const char* name : {"project", "project/file"}) {
    ASSERT_EQ(::chown(Path(name).c_str(), 12347, 12348), 0);
  }
  const Outcome outcome = Run({"run", "--env", "shell",
                               "cat /project/file; stat -c %u /project/file; echo new >"
                               "/project/file; echo made > /project/made"});
  EXPECT_EQ(outcome.out, "old\n1000\n") << outcome.err;
  EXPECT_EQ(Read("project/file"), "new\n");
  struct stat made{};
  ASSERT_EQ(::stat(Path("project/made").c_str(), &made), 0);
  EXPECT_EQ(made.st_uid, 12347U);
  EXPECT_EQ(made.st_gid, 12348U);
}

TEST_F(ContainerOfProjects, HasSessionsThatRememberAndFilesThatComeBack) {
  if (IsRefused()) return;
  Write(kUsual, "[environments.calc]\npreset = 'python'\nbackend = 'container'\n");
  McpClient client({.args = {"mcp"}, .env = {"PATH=/usr/bin:/bin", "HOME=" + Path("")}});
  client.Initialize();
  client.Run("calc", "x = 40", {{"session", "s"}});
  EXPECT_THAT(TextOf(client.Run("calc", "print(x + 2)", {{"session", "s"}})), StartsWith("42\n"));
  EXPECT_THAT(TextOf(client.Run("calc", "open('left.txt', 'w').write('hello')")),
              HasSubstr("left.txt"));
}

using ContainerOfAgents = AgentBox;

TEST_F(ContainerOfAgents, WorksInTheProjectAtItsRealPathAndCanBeEntered) {
  if (IsRefused()) return;
  Write("home/.ssh/id_ed25519", "canary");
  Running box(Script("pwd; echo new > file; echo of-the-box > /tmp/mine; echo up; sleep 1000",
                     {"--name", "one", "--backend", "container"}));
  ASSERT_TRUE(box.WaitForOutput(project() + "\nup")) << box.errors();
  EXPECT_EQ(Read("home/code/project/file"), "new\n");
  Terminal shell = AtTerminal(Agent({"enter", "one", "--", "/bin/bash", "--norc"}));
  shell.Type(
      "PS1=; cat /tmp/mine; cat ~/.ssh/id_ed25519; grep -E '^(Seccomp|CapEff):' "
      "/proc/self/status; exit 7\r");
  EXPECT_EQ(shell.Finish(), 7) << shell.output();
  EXPECT_THAT(shell.output(), AllOf(HasSubstr("of-the-box"), HasSubstr("Seccomp:\t2"),
                                    HasSubstr("CapEff:\t0000000000000000")));
  EXPECT_THAT(shell.output(), Not(HasSubstr("canary")));
}

}  // namespace
}  // namespace igloo::testing
