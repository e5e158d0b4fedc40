// igloo-copy reads the memory of hostile processes. What it could do if that went wrong.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>

#include "base/temp_dir.h"
#include "copy/proc.h"
#include "copy/wall.h"
#include "support/host.h"
#include "support/igloo.h"
#include "support/interpreters.h"

namespace igloo::testing {
namespace {

enum Reach : int {
  kTrace = 1,    ///< a process outside of the sandbox
  kFile = 2,     ///< a file outside of it
  kProgram = 4,  ///< any program
  kSocket = 8,
  kSignal = 16,  ///< to a process outside
  kInside = 32,  ///< the sandbox's own processes: what it is for
};

/// What this process can do.
int Reached(pid_t outside, pid_t inside, const std::string& file) {
  int reached = 0;
  if (::ptrace(PTRACE_SEIZE, outside, nullptr, nullptr) == 0) {
    reached |= kTrace;
    ::ptrace(PTRACE_INTERRUPT, outside, nullptr, nullptr);
    ::waitpid(outside, nullptr, __WALL);
    ::ptrace(PTRACE_DETACH, outside, nullptr, nullptr);
  }
  if (::open(file.c_str(), O_RDONLY | O_CLOEXEC) >= 0) reached |= kFile;
  if (::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0) >= 0) reached |= kSocket;
  if (::kill(outside, SIGCONT) == 0) reached |= kSignal;
  const int pidfd = static_cast<int>(::syscall(SYS_pidfd_open, outside, 0));
  if (pidfd >= 0 && ::syscall(SYS_pidfd_send_signal, pidfd, SIGCONT, nullptr, 0) == 0) {
    reached |= kSignal;
  }
  if (copy::OpenProc(inside, "mem", O_RDWR)) reached |= kInside;
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

TEST(CopierWall, HoldsOneSandboxAndNothingElse) {
  Interpreters bench("python");
  const auto one = bench.Open(Interpreters::From::kStart);
  ASSERT_TRUE(one) << bench.error();
  const pid_t inside = PythonBelow(::getpid());
  ASSERT_GT(inside, 0);
  const TempDir directory = TempDir::Make(TempParent()).value();
  const std::string file = directory.path() + "/secret";
  std::ofstream(file) << "secret";
  const pid_t outside = ::fork();
  if (outside == 0) {
    ::pause();
    ::_exit(0);
  }
  const auto look = [&](bool walled) {
    const pid_t child = ::fork();
    if (child == 0) {
      const bool ready = copy::ProcDirectory() >= 0 &&
                         (!walled || (copy::EnterSandboxOf(inside) && copy::RaiseWall()));
      ::_exit(ready ? Reached(outside, inside, file) : 255);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  };
  EXPECT_EQ(look(true), kInside);
  // The control: without its wall all of this is open.
  EXPECT_EQ(look(false), kTrace | kFile | kProgram | kSocket | kSignal | kInside);
  ::kill(outside, SIGKILL);
  ::waitpid(outside, nullptr, 0);
}

}  // namespace
}  // namespace igloo::testing
