// Another user of the same machine: what that user may open, lock or connect to.

#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <functional>

#include "base/descriptors.h"
#include "cgroup/groups.h"
#include "support/configured.h"
#include "support/mcp.h"

namespace igloo::testing {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

constexpr uid_t kSomebodyElse = 54321;

/// A process of another user, which does one thing and then waits to be killed.
class OtherUser {
 public:
  explicit OtherUser(const std::function<bool()>& act) {
    int done[2];
    EXPECT_EQ(::pipe2(done, O_CLOEXEC), 0);
    pid_ = ::fork();
    if (pid_ == 0) {
      const bool changed = ::setresgid(kSomebodyElse, kSomebodyElse, kSomebodyElse) == 0 &&
                           ::setresuid(kSomebodyElse, kSomebodyElse, kSomebodyElse) == 0;
      const char result = changed ? (act() ? '1' : '0') : '?';
      (void)!::write(done[1], &result, 1);
      ::close(done[1]);
      for (;;) ::pause();  // a lock lasts as long as the process
    }
    ::close(done[1]);
    EXPECT_EQ(::read(done[0], &result_, 1), 1);
    EXPECT_NE(result_, '?');
    ::close(done[0]);
  }
  ~OtherUser() {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  OtherUser(const OtherUser&) = delete;
  OtherUser& operator=(const OtherUser&) = delete;
  bool succeeded() const { return result_ == '1'; }

 private:
  pid_t pid_ = -1;
  char result_ = '?';
};

/// Whoever can open a file or a directory can lock it; no right to write is needed.
bool OpenAndLock(const std::string& path) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_NONBLOCK);
  return fd >= 0 && ::flock(fd, LOCK_EX | LOCK_NB) == 0;
}

bool Connects(const std::string& path) {
  sockaddr_un name{};
  name.sun_family = AF_UNIX;
  if (path.size() >= sizeof name.sun_path) return false;
  std::ranges::copy(path, name.sun_path);
  const int fd = ::socket(AF_UNIX, SOCK_STREAM, 0);
  return ::connect(fd, reinterpret_cast<const sockaddr*>(&name), sizeof name) == 0;
}

/// What of `root` and everything below another user can get into. Played by a process of that user
/// where this test may make one, and judged by modes elsewhere.
std::vector<std::string> WithinReach(const std::string& root) {
  std::vector<std::string> paths = {root};
  for (const auto& each : fs::recursive_directory_iterator(root)) paths.push_back(each.path());
  std::vector<std::string> reached;
  for (const std::string& path : paths) {
    struct stat info{};
    if (::lstat(path.c_str(), &info) != 0) continue;  // gone meanwhile
    const bool open = RunningAsRoot()
                          ? OtherUser([&] {
                              return S_ISSOCK(info.st_mode) ? Connects(path) : OpenAndLock(path);
                            }).succeeded()
                          : (info.st_mode & 077U) != 0 && !S_ISLNK(info.st_mode);
    if (open) reached.push_back(path);
  }
  return reached;
}

class LocalUsers : public Configured {
 protected:
  /// The same with a umask that gives everything away.
  std::vector<std::string> Generous(const std::string& command) const {
    return {"-c", "umask 000; exec " + BinDirectory() + "/igloo " + command};
  }
  std::vector<std::string> Variables() const {
    return {"PATH=/usr/bin:/bin", "HOME=" + Path("home")};
  }
  void SetUp() override {
    Configured::SetUp();
    fs::create_directory(Path("home"));
    // Nothing above igloo's own directories keeps anybody out.
    fs::permissions(Path("home"), fs::perms(0755));
  }
};

TEST_F(LocalUsers, ReachNothingThatIglooMakesWhateverTheUmask) {
  McpClient client({.program = "/bin/sh", .args = Generous("mcp"), .env = Variables()});
  client.Initialize();
  const JsonObject ran = client.Run("shell", "x=1; echo begun", {{"session", "kept"}});
  ASSERT_THAT(TextOf(ran), HasSubstr("begun"));
  const std::string state = Path("home/.local/state/igloo");
  ASSERT_TRUE(fs::exists(state + "/sessions")) << "there is a socket to reach";
  EXPECT_THAT(WithinReach(Path("home/.local")), IsEmpty());
  // Control: in a directory that others may read, the same look finds something.
  fs::create_directory(Path("open"));
  fs::permissions(Path("open"), fs::perms(0755));
  EXPECT_THAT(WithinReach(Path("open")), Not(IsEmpty()));
}

TEST_F(LocalUsers, CannotLockTheCgroupsOfSandboxes) {
  const cgroup::Found found = cgroup::Find();
  // Without one there is none to lock: as a user, say. The other tests look at what there is then.
  if (found.kind == cgroup::Kind::kNone) {
    EXPECT_NE(found.why, "");
    return;
  }
  cgroup::Groups groups(found);
  const auto lease = groups.Take({});
  ASSERT_TRUE(lease) << lease.error().what;
  std::vector<std::string> leaves = {found.place};
  for (const auto& each : fs::directory_iterator(found.place)) {
    if (each.is_directory()) leaves.push_back(each.path());
  }
  EXPECT_GT(leaves.size(), 1U);
  for (const std::string& leaf : leaves) {
    struct stat info{};
    ASSERT_EQ(::stat(leaf.c_str(), &info), 0);
    EXPECT_EQ(info.st_uid, ::geteuid());
    if (!RunningAsRoot()) continue;
    EXPECT_FALSE(OtherUser([&] { return OpenAndLock(leaf); }).succeeded()) << leaf;
  }
  struct stat info{};
  ASSERT_EQ(::stat(found.place.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777U, 0700U);
}

TEST_F(LocalUsers, DirectoryThatAllMayReadCanBeLockedByAnybody) {
  // Control for the two above: without a private directory, the lock of another user stops igloo's.
  fs::create_directory(Path("readable"));
  fs::permissions(Path("readable"), fs::perms(0755));
  const UniqueFd own(::open(Path("readable").c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!RunningAsRoot()) {
    struct stat info{};
    ASSERT_EQ(::fstat(own.get(), &info), 0);
    EXPECT_NE(info.st_mode & 077U, 0U);
    return;
  }
  {
    const OtherUser other([&] { return OpenAndLock(Path("readable")); });
    ASSERT_TRUE(other.succeeded());
    EXPECT_NE(::flock(own.get(), LOCK_EX | LOCK_NB), 0);
    EXPECT_EQ(errno, EWOULDBLOCK);
  }
  EXPECT_EQ(::flock(own.get(), LOCK_EX | LOCK_NB), 0);
}

TEST_F(LocalUsers, LockOnTheDirectoryOfASocketDoesNotStopTheServer) {
  fs::create_directory(Path("sockets"));
  fs::permissions(Path("sockets"), fs::perms(0755));
  const auto hold = [&] { return OpenAndLock(Path("sockets")); };
  std::optional<OtherUser> other;
  UniqueFd own;
  if (RunningAsRoot()) {
    other.emplace(hold);
    ASSERT_TRUE(other->succeeded());
  } else {
    // Nobody else can be played; a lock of this user's own on the directory is the same to igloo.
    own.Reset(::open(Path("sockets").c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    ASSERT_EQ(::flock(own.get(), LOCK_EX | LOCK_NB), 0);
  }
  const std::string socket = Path("sockets/igloo");
  Running server(
      {.program = "/bin/sh", .args = Generous("mcp --http unix:" + socket), .env = Variables()});
  EXPECT_TRUE(server.WaitForErrors("serving MCP at ")) << server.errors();
  EXPECT_TRUE(Connects(socket)) << "control: its own user reaches it";
  if (RunningAsRoot()) {
    EXPECT_FALSE(OtherUser([&] { return Connects(socket); }).succeeded());
  }
}

/// Fills sockets with descriptors that nobody takes, as many as the kernel allows, and waits.
constexpr const char* kFillSockets = R"py(
import array, socket, sys
kept = []
try:
    while True:
        kept.append(socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM))
        kept[-1][0].setblocking(False)
        try:
            while True:
                kept[-1][0].sendmsg([b'x'], [(socket.SOL_SOCKET, socket.SCM_RIGHTS,
                                              array.array('i', [0] * 250))])
        except BlockingIOError:
            pass
except OSError as error:
    print('filled', flush=True)
sys.stdin.readline()
)py";

/// Whether a process of this user with the usual limit can pass a descriptor on.
bool PassesOneWithTheUsualLimit() {
  const pid_t pid = ::fork();
  if (pid == 0) {
    const rlimit usual{1024, 1024};
    int sockets[2];
    if (::setrlimit(RLIMIT_NOFILE, &usual) != 0 ||
        ::socketpair(AF_UNIX, SOCK_STREAM, 0, sockets) != 0) {
      ::_exit(2);
    }
    msghdr message{};
    char byte = 'x';
    iovec piece{&byte, 1};
    message.msg_iov = &piece;
    message.msg_iovlen = 1;
    DescriptorRoom<1> room;
    const int passed[] = {0};
    room.Send(message, passed);
    ::_exit(::sendmsg(sockets[0], &message, MSG_NOSIGNAL) == 1 ? 0 : 1);
  }
  int status = 0;
  EXPECT_EQ(::waitpid(pid, &status, 0), pid);
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

TEST_F(LocalUsers, SocketsFullOfDescriptorsDoNotKeepAUserFromStartingSandboxes) {
  const auto starts = [] {
    return RunProgram(IglooAfter("ulimit -Sn 1024", {"run", "--env", "shell", "echo started"}));
  };
  {
    // As many as a sandbox may have open by default.
    Running host({.program = "/bin/sh",
                  .args = {"-c", "ulimit -Sn 4096; exec python3 -c \"$0\"", kFillSockets}});
    if (!RunningAsRoot()) {  // the kernel does not limit root
      ASSERT_TRUE(host.WaitForOutput("filled")) << host.errors();
      EXPECT_FALSE(PassesOneWithTheUsualLimit()) << "control: whoever has the usual limit is stuck";
    }
    const Outcome beside = starts();
    EXPECT_EQ(beside.out, "started\n") << beside.err;
  }
  Running inside = StartIgloo({"run", "--env", "python", kFillSockets});
  ASSERT_TRUE(inside.WaitForOutput("filled")) << inside.errors();
  const Outcome beside = starts();
  EXPECT_EQ(beside.out, "started\n") << beside.err;
}

/// Leaves signals waiting that nobody takes, and prints how many the kernel keeps for this user:
/// before, and then.
constexpr const char* kLeaveSignals = R"py(
import os, signal
def waiting():
    line = [each for each in open('/proc/self/status') if each.startswith('SigQ:')][0]
    return line.split()[1].split('/')[0]
before = waiting()
signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGRTMIN])
for _ in range(6000):
    os.kill(os.getpid(), signal.SIGRTMIN)
print(before, waiting())
)py";

struct WaitingSignals {
  int before = 0, then = 0;
};
WaitingSignals ReadWaiting(const Outcome& outcome) {
  WaitingSignals waiting;
  EXPECT_EQ(std::sscanf(outcome.out.c_str(), "%d %d", &waiting.before, &waiting.then), 2)
      << outcome.out << outcome.err;
  return waiting;
}

TEST_F(LocalUsers, ASandboxKeepsFewSignalsWaitingInItsUsersName) {
  const Outcome behind = Igloo({"run", "--env", "python", kLeaveSignals});
  ASSERT_EQ(behind.status, 0) << behind.err;
  const WaitingSignals inside = ReadWaiting(behind);
  EXPECT_LE(inside.then, 256 + inside.before);
  const Outcome host = RunProgram({.program = "/usr/bin/python3", .args = {"-c", kLeaveSignals}});
  rlimit own{};
  ASSERT_EQ(::getrlimit(RLIMIT_SIGPENDING, &own), 0);
  EXPECT_GE(ReadWaiting(host).then, static_cast<int>(std::min<rlim_t>(own.rlim_cur, 6000)))
      << "control: without the wall as many as the user may have";
}

TEST_F(LocalUsers, StateOfSomebodyElseIsRefusedWithTheFix) {
  const std::string state = Path("home/.local/state/igloo");
  fs::create_directories(state);
  fs::permissions(state, fs::perms(0777));
  const auto says = [&](std::string_view what) {
    Running server({.program = BinDirectory() + "/igloo",
                    .args = {"mcp", "--http", "127.0.0.1:0"},
                    .env = Variables()});
    return server.WaitForErrors(what);
  };
  EXPECT_TRUE(says("chmod 700"));
  fs::permissions(state, fs::perms(0700));
  EXPECT_TRUE(says("serving MCP at ")) << "control: mended as the hint says, it serves";
  if (!RunningAsRoot()) return;
  ASSERT_EQ(::chown(state.c_str(), kSomebodyElse, kSomebodyElse), 0);
  EXPECT_TRUE(says("another user"));
}

}  // namespace
}  // namespace igloo::testing
