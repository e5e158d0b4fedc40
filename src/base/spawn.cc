#include "base/spawn.h"

#include <fcntl.h>
#include <linux/close_range.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <sstream>

namespace igloo {
namespace {

constexpr std::size_t kMaxPassed = 64;

std::vector<char*> Pointers(const std::vector<std::string>& strings) {
  std::vector<char*> pointers;
  pointers.reserve(strings.size() + 1);
  for (const std::string& text : strings) pointers.push_back(const_cast<char*>(text.c_str()));
  pointers.push_back(nullptr);
  return pointers;
}

/// What the child needs, prepared before vfork: the child may not allocate.
struct ChildPlan {
  const char* program;
  char** argv;
  char** env;
  const std::vector<PassedFd>* fds;
  std::optional<uid_t> become;
  std::optional<gid_t> become_group;
  bool reset_signals;
  bool own_session;
  int death_signal;
  int group, second_group;
  int first_free = 3;  ///< above every target number
};

/// Runs between vfork and exec in the parent's memory: only system calls, nothing else.
int Prepare(const ChildPlan& plan) {
  // Before giving up root: that it is open is enough for version 1, not for version 2.
  for (const int group : {plan.group, plan.second_group}) {
    if (group >= 0 && ::write(group, "0", 1) != 1) return errno;
  }
  // Raw calls: glibc's setuid family signals every thread of the process, and after vfork those
  // are the parent's.
  if (plan.become) {
    const uid_t id = *plan.become;
    const gid_t group = plan.become_group.value_or(id);
    if (::syscall(SYS_setgroups, 0, nullptr) != 0 ||
        ::syscall(SYS_setresgid, group, group, group) != 0 ||
        ::syscall(SYS_setresuid, id, id, id) != 0) {
      return errno;
    }
  }
  ::prctl(PR_SET_PDEATHSIG, plan.death_signal);
  if (plan.own_session && ::setsid() < 0) return errno;
  sigset_t none;
  sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  if (plan.reset_signals) {
    // The bare call: glibc refuses to touch the two signals it keeps for itself, which a caller
    // that has another libc may well ignore. All zero is the kernel's default action.
    constexpr unsigned long kDefault[4] = {};
    for (int number = 1; number < NSIG; ++number) {
      ::syscall(SYS_rt_sigaction, number, kDefault, nullptr, 8);
    }
  }
  // Two passes: first out of the way of every target number, then into place.
  int moved[kMaxPassed];
  const std::size_t count = plan.fds->size();
  for (std::size_t i = 0; i < count; ++i) {
    moved[i] = ::fcntl((*plan.fds)[i].from, F_DUPFD, plan.first_free);
    if (moved[i] < 0) return errno;
  }
  // SECURITY: the numbers between the listed ones hold whatever the parent forgot to mark.
  if (plan.first_free > 3 && ::syscall(SYS_close_range, 3, plan.first_free - 1, 0) != 0) {
    return errno;
  }
  bool given[3] = {};
  for (std::size_t i = 0; i < count; ++i) {
    const int to = (*plan.fds)[i].to;
    if (::dup2(moved[i], to) < 0) return errno;
    if (to < 3) given[to] = true;
  }
  for (int fd = 0; fd < 3; ++fd) {
    if (given[fd]) continue;
    const int null = ::open("/dev/null", O_RDWR);
    if (null < 0) return errno;
    if (null == fd) continue;
    if (::dup2(null, fd) < 0) return errno;
    ::close(null);
  }
  // SECURITY: everything above the listed numbers goes, whoever forgot close-on-exec.
  if (::syscall(SYS_close_range, plan.first_free, ~0U, 0) != 0) return errno;
  ::execve(plan.program, plan.argv, plan.env);
  return errno;
}

}  // namespace

Child& Child::operator=(Child&& other) noexcept {
  if (this != &other) {
    KillAndReap();
    pid_ = std::exchange(other.pid_, -1);
    pidfd_ = std::move(other.pidfd_);
  }
  return *this;
}

Result<int> Child::Wait() {
  int status = 0;
  while (::waitpid(pid_, &status, 0) < 0) {
    const int saved_errno = errno;
    if (saved_errno != EINTR) return FailSys(saved_errno, "cannot wait for a child");
  }
  pid_ = -1;
  return status;
}

void Child::Signal(int signal) const {
  if (pid_ > 0) ::syscall(SYS_pidfd_send_signal, pidfd_.get(), signal, nullptr, 0);
}

void Child::KillAndReap() {
  if (pid_ <= 0) return;
  Signal(SIGKILL);
  (void)Wait();
}

Result<Child> Spawn(const SpawnOptions& options) {
  if (options.fds.size() > kMaxPassed) return Fail(Errc::kInternal, "too many descriptors to pass");
  std::vector<char*> argv = Pointers(options.argv);
  std::vector<char*> env = Pointers(options.env);
  ChildPlan plan{.program = options.program.c_str(),
                 .argv = argv.data(),
                 .env = env.data(),
                 .fds = &options.fds,
                 .become = options.become,
                 .become_group = options.become_group,
                 .reset_signals = options.reset_signals,
                 .own_session = options.own_session,
                 .death_signal = options.death_signal,
                 .group = options.group,
                 .second_group = options.second_group};
  for (const PassedFd& fd : options.fds) plan.first_free = std::max(plan.first_free, fd.to + 1);

  // The child reports here through the shared memory of vfork: no pipe is needed.
  volatile int child_errno = 0;
  // vfork is the point: fork of a server with 512 MB costs 36 ms, this costs 0.04.
  const pid_t pid = ::vfork();
  if (pid == 0) {
    child_errno = Prepare(plan);
    ::_exit(127);
  }
  if (pid < 0) {
    const int saved_errno = errno;
    return FailSys(saved_errno, "cannot start '" + options.program + "'");
  }
  UniqueFd pidfd(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
  const int pidfd_errno = errno;
  Child child(pid, std::move(pidfd));
  if (child_errno != 0) return FailSys(child_errno, "cannot start '" + options.program + "'");
  if (child.pidfd() < 0) {
    ::kill(pid, SIGKILL);
    return FailSys(pidfd_errno, "cannot watch '" + options.program + "'",
                   "igloo needs Linux 5.14 or newer");
  }
  return child;
}

std::string FindInPath(std::string_view program) {
  const char* path = std::getenv("PATH");
  std::istringstream places(path != nullptr ? path : "/usr/bin:/bin");
  for (std::string place; std::getline(places, place, ':');) {
    std::string file = place + "/" + std::string(program);
    // SECURITY: a relative entry would make whatever lies in a project a program of its user's.
    if (place.starts_with('/') && ::access(file.c_str(), X_OK) == 0) return file;
  }
  return {};
}

}  // namespace igloo
