// igloo-copy reads the memory of hostile processes. What it could do if that went wrong.
#include <fcntl.h>
#include <grp.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <functional>

#include "base/file.h"
#include "base/temp_dir.h"
#include "copy/address_space.h"
#include "copy/descriptor_holder.h"
#include "copy/proc.h"
#include "copy/wall.h"
#include "false_copier.h"
#include "support/host.h"
#include "support/igloo.h"
#include "support/interpreters.h"
#include "walled.h"

namespace igloo::testing {
namespace {

enum Reach : int {
  kTrace = 1,    ///< a process outside of the sandbox
  kFile = 2,     ///< a file outside of it
  kProgram = 4,  ///< any program
  kSocket = 8,
  kSignal = 16,  ///< to a process outside
  kInside = 32,  ///< the sandbox's own processes: what it is for
  kProc = 64,    ///< the host's /proc is still open
};
constexpr int kNotReady = 255;
/// More than a test has open.
constexpr int kMostFds = 256;

bool TracesAnother(pid_t outside) {
  if (::ptrace(PTRACE_SEIZE, outside, nullptr, nullptr) != 0) return false;
  ::ptrace(PTRACE_INTERRUPT, outside, nullptr, nullptr);
  ::waitpid(outside, nullptr, __WALL);
  ::ptrace(PTRACE_DETACH, outside, nullptr, nullptr);
  return true;
}

/// By its path, and by way of every directory that may be open: the host's /proc has its files
/// behind "..".
bool OpensFile(const std::string& file) {
  if (::open(file.c_str(), O_RDONLY | O_CLOEXEC) >= 0) return true;
  for (int fd = 0; fd < kMostFds; ++fd) {
    if (::openat(fd, (".." + file).c_str(), O_RDONLY | O_CLOEXEC) >= 0) return true;
  }
  return false;
}

/// By its number, by a descriptor, and by its directory in /proc, which is as good as a descriptor.
bool SignalsAnother(pid_t outside) {
  if (::kill(outside, SIGCONT) == 0) return true;
  const int pidfd = static_cast<int>(::syscall(SYS_pidfd_open, outside, 0));
  if (pidfd >= 0 && ::syscall(SYS_pidfd_send_signal, pidfd, SIGCONT, nullptr, 0) == 0) return true;
  for (int fd = 0; fd < kMostFds; ++fd) {
    const int found = ::openat(fd, std::to_string(outside).c_str(), O_DIRECTORY | O_CLOEXEC);
    if (found >= 0 && ::syscall(SYS_pidfd_send_signal, found, SIGKILL, nullptr, 0) == 0) {
      return true;
    }
  }
  return false;
}

/// What was opened before the wall is read behind it.
bool ReadsInside(const copy::AddressSpace& memory) {
  const auto regions = memory.Regions();
  char byte = 0;
  return regions && !regions->empty() && memory.Read(regions->front().begin, &byte, 1);
}

/// What this process can do. `proc`: the number under which it had the host's /proc open.
int Reached(pid_t outside, const copy::AddressSpace& inside, const std::string& file, int proc) {
  int reached = 0;
  if (TracesAnother(outside)) reached |= kTrace;
  if (OpensFile(file)) reached |= kFile;
  if (::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0) >= 0) reached |= kSocket;
  if (SignalsAnother(outside)) reached |= kSignal;
  if (ReadsInside(inside)) reached |= kInside;
  if (::fcntl(proc, F_GETFD) >= 0) reached |= kProc;
  // Of a name that is there in the sandbox, too; a program that cannot run is not denied.
  char* const none[] = {nullptr};
  ::execve("/usr", none, none);
  if (errno == EACCES) reached |= kProgram;
  return reached;
}

pid_t PythonBelow(pid_t pid) {
  for (const ProcessInfo& each : DescendantsOf(pid)) {
    if (each.name.starts_with("python")) return each.pid;
  }
  return 0;
}

/// What a child of the test's says by its exit status; -1: it ended otherwise.
int StatusOfChild(const std::function<int()>& what) {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(what());
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/// One sandbox with an interpreter that igloo-copy may look into.
class CopierWall : public ::testing::Test {
 protected:
  void SetUp() override {
    one_ = bench_.Open(Interpreters::From::kStart);
    ASSERT_TRUE(one_) << bench_.error();
    inside_ = PythonBelow(::getpid());
    ASSERT_GT(inside_, 0);
  }

  Interpreters bench_{"python"};
  std::unique_ptr<session::Interpreter> one_;
  pid_t inside_ = 0;
};

TEST_F(CopierWall, HoldsOneSandboxAndNothingElse) {
  const TempDir directory = TempDir::Make(TempParent()).value();
  const std::string file = directory.path() + "/secret";
  std::ofstream(file) << "secret";
  // Everybody on the host may read it.
  std::filesystem::permissions(directory.path(), std::filesystem::perms(0755));
  const auto look = [&](bool walled) {
    const pid_t outside = ::fork();
    if (outside == 0) {
      ::pause();
      ::_exit(0);
    }
    const int reached = StatusOfChild([&] {
      const int proc = copy::ProcDirectory();
      const auto goes = walled ? copy::EnterSandboxOf(inside_) : copy::ReachIdOf(inside_);
      if (proc < 0 || !goes) return kNotReady;
      const auto memory = copy::AddressSpace::Open(inside_);
      if (!memory || (walled && !copy::RaiseWall())) return kNotReady;
      return Reached(outside, *memory, file, proc);
    });
    ::kill(outside, SIGKILL);
    ::waitpid(outside, nullptr, 0);
    return reached;
  };
  EXPECT_EQ(look(true), kInside);
  // The control: without its wall all of this is open. Where the sandbox has a subordinate id, it
  // is looked into from a user namespace in which nothing outside can be traced.
  const bool subordinate =
      !RunningAsRoot() && StatusOf(inside_, "Uid") != StatusOf(::getpid(), "Uid");
  EXPECT_EQ(look(false),
            (subordinate ? 0 : kTrace) | kFile | kProgram | kSocket | kSignal | kInside | kProc);
}

/// The control for each way that the attack above has to a file and to a process.
TEST_F(CopierWall, ControlTheHostsProcLeadsToFilesAndProcesses) {
  const TempDir directory = TempDir::Make(TempParent()).value();
  const std::string file = directory.path() + "/secret";
  std::ofstream(file) << "secret";
  const UniqueFd open(::openat(copy::ProcDirectory(), (".." + file).c_str(), O_RDONLY | O_CLOEXEC));
  EXPECT_TRUE(open);
  const pid_t outside = ::fork();
  if (outside == 0) {
    ::pause();
    ::_exit(0);
  }
  const UniqueFd process(
      ::openat(copy::ProcDirectory(), std::to_string(outside).c_str(), O_DIRECTORY | O_CLOEXEC));
  EXPECT_EQ(::syscall(SYS_pidfd_send_signal, process.get(), SIGKILL, nullptr, 0), 0);
  int status = 0;
  ::waitpid(outside, &status, 0);
  EXPECT_TRUE(WIFSIGNALED(status));
}

/// Files judge a process by its groups, too.
TEST_F(CopierWall, KeepsNoneOfRootsGroups) {
  const auto groups = [&](bool enters) {
    return StatusOfChild([&] {
      const gid_t some[] = {0, 6, 42'000};
      if (RunningAsRoot() && ::setgroups(3, some) != 0) return kNotReady;
      if (copy::ProcDirectory() < 0 || (enters && !copy::EnterSandboxOf(inside_))) return kNotReady;
      return ::getgroups(0, nullptr);
    });
  };
  if (RunningAsRoot()) {
    EXPECT_EQ(groups(true), 0);
    EXPECT_EQ(groups(false), 3) << "control";
  }
}

/// A process with the sandbox's user id and rights over it must not stay when nobody needs it.
TEST_F(CopierWall, EndsWithIgloo) {
  FdPair ends = MakePipe().value();
  const pid_t igloo = ::fork();
  if (igloo == 0) {
    ends.first.Reset();
    if (::fork() == 0) {
      const bool ready =
          copy::ProcDirectory() >= 0 && copy::EnterSandboxOf(inside_) && copy::RaiseWall();
      const pid_t own = ready ? ::getpid() : 0;
      (void)!::write(ends.second.get(), &own, sizeof own);
      while (ready) ::poll(nullptr, 0, -1);
      ::_exit(1);
    }
    ends.second.Reset();
    ::pause();
    ::_exit(0);
  }
  ends.second.Reset();
  pid_t copier = 0;
  ASSERT_EQ(::read(ends.first.get(), &copier, sizeof copier), ssize_t{sizeof copier});
  ASSERT_GT(copier, 0);
  ::kill(igloo, SIGKILL);
  ::waitpid(igloo, nullptr, 0);
  // The end of the pipe is the end of the one that had it.
  constexpr int kPatienceMs = 30'000;
  pollfd end{ends.first.get(), POLLIN, 0};
  const bool ended = ::poll(&end, 1, kPatienceMs) == 1;
  EXPECT_TRUE(ended) << "it outlived igloo";
  if (!ended) ::kill(copier, SIGKILL);
}

/// The process that only holds descriptors has no more rights than igloo-copy, and nothing else
/// open.
TEST_F(CopierWall, HoldsTheDescriptorHolderToo) {
  FdPair up = MakePipe().value();
  FdPair down = MakePipe().value();
  const pid_t copier = ::fork();
  if (copier == 0) {
    down.second.Reset();
    const UniqueFd init(static_cast<int>(::syscall(SYS_pidfd_open, inside_, 0)));
    if (copy::ProcDirectory() < 0 || !copy::EnterSandboxOf(inside_) || !copy::RaiseWall()) {
      ::_exit(kNotReady);
    }
    const auto holder = copy::DescriptorHolder::Start(init.get());
    char word = holder ? 'k' : 'n';
    (void)!::write(up.second.get(), &word, 1);
    (void)!::read(down.first.get(), &word, 1);  // until the test has looked
    ::_exit(0);
  }
  up.second.Reset();
  char word = 0;
  ASSERT_EQ(::read(up.first.get(), &word, 1), 1);
  ASSERT_EQ(word, 'k');
  const std::vector<ProcessInfo> children = ChildrenOf(copier);
  ASSERT_EQ(children.size(), 1U);
  const pid_t holder = children.front().pid;
  // It has closed all else before it calls itself so.
  EXPECT_TRUE(WaitFor([&] { return ChildrenOf(copier).front().name == "igloo-holder"; }));
  EXPECT_EQ(StatusOf(holder, "Seccomp"), "2");
  EXPECT_EQ(StatusOf(holder, "NoNewPrivs"), "1");
  EXPECT_EQ(StatusOf(holder, "CapEff"), "0000000000080000") << "more than CAP_SYS_PTRACE";
  EXPECT_EQ(StatusOf(holder, "CapPrm"), "0000000000080000");
  EXPECT_EQ(StatusOf(holder, "Uid"), StatusOf(inside_, "Uid"));
  if (RunningAsRoot()) {
    EXPECT_EQ(StatusOf(holder, "Groups"), " ");
    EXPECT_EQ(CountDescriptors(holder), 3);
  }
  // The control: without the wall none of this is so.
  EXPECT_EQ(StatusOf(::getpid(), "Seccomp"), "0");
  ::kill(copier, SIGKILL);
  ::waitpid(copier, nullptr, 0);
  ::kill(holder, SIGKILL);
}

/// Memory comes later by way of descriptors that pass through the copy, where an environment's code
/// may have put somebody who has them in common with it.
TEST(CopyThatIsNotAlone, GetsAllMemoryBeforeItGoesOn) {
  Interpreters bench("python");
  const auto original = bench.Open(Interpreters::From::kCheckpoint);
  ASSERT_TRUE(original) << bench.error();
  ASSERT_EQ(bench.Say(*original, "much = b'x' * (160 << 20)"), "");
  const std::string sibling = R"py(
import ctypes, signal
CLONE_FILES, clone = 0x400, 56
if ctypes.CDLL(None).syscall(clone, CLONE_FILES | signal.SIGCHLD, 0, 0, 0, 0) == 0:
    while True: signal.pause()
)py";
  const auto comes_later = [&](const std::string& before) {
    const auto copy = bench.Open(Interpreters::From::kCheckpoint);
    EXPECT_TRUE(copy && bench.Say(*copy, before).empty() && bench.Copy(*original, *copy))
        << bench.error();
    const auto keeps = [](const ProcessInfo& each) { return each.name == "igloo-holder"; };
    const bool later = std::ranges::any_of(DescendantsOf(::getpid()), keeps);
    EXPECT_EQ(bench.Say(*copy, "print(len(much) >> 20)"), "160\n");
    return later;
  };
  int alone = 0;
  for (int i = 0; i < 5; ++i) {
    EXPECT_FALSE(comes_later(sibling));
    alone += comes_later("None") ? 1 : 0;
  }
  // The control; a copy may have everything by the time that somebody looks.
  const bool possible = RunningAsRoot() && ::access("/dev/userfaultfd", R_OK | W_OK) == 0;
  EXPECT_EQ(alone > 0, possible);
}

/// What an igloo-copy says that was taken over. Nothing of it makes a fork, or ends igloo.
TEST(LyingCopier, MakesNoFork) {
  Interpreters bench("python");
  ASSERT_TRUE(bench.MakeCheckpoint());
  const std::string held = "struct.pack('<ci', b'h', order.original)";
  for (const std::string& words :
       {std::string("b'g', b'c'"), std::string("b'c'"), std::string("b'e', b'g', b'c'"),
        "b'e', " + held + ", b'c'", held + ", b'e', b'g', b'c'",
        "b'e', b'e', " + held + ", b'g', b'c'",
        // In order, and too fast to be true: nobody has forked.
        "b'e', " + held + ", b'g', b'c'"}) {
    const FalseCopier liar("for word in (" + words + ",): say(word)\n");
    bench.UseCopier(liar.program());
    const auto session = bench.Open(Interpreters::From::kCheckpoint);
    ASSERT_TRUE(session) << bench.error();
    EXPECT_EQ(bench.Say(*session, "x = 7"), "");
    EXPECT_FALSE(bench.Fork(*session)) << words;
    EXPECT_NE(bench.error(), "") << words;
    EXPECT_EQ(bench.Say(*session, "print(x)"), "7\n") << words;
  }
}

}  // namespace
}  // namespace igloo::testing
