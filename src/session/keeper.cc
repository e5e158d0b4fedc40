#include "session/keeper.h"

#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <algorithm>
#include <cerrno>

#include "base/file.h"
#include "session/pass.h"

namespace igloo::session {
namespace {

/// In a copy of a process with many threads: nothing but system calls. What it keeps lies in a
/// socket that nobody reads.
[[noreturn]] void KeepUntilEnd(int init, int socket) {
  // First of all: some of the others are what sandboxes know by that igloo is there.
  const auto [low, high] = std::minmax(init, socket);
  if (low > 0) ::syscall(SYS_close_range, 0, low - 1, 0);
  if (high > low + 1) ::syscall(SYS_close_range, low + 1, high - 1, 0);
  ::syscall(SYS_close_range, high + 1, ~0U, 0);
  ::prctl(PR_SET_NAME, "igloo-keeper");
  ::prctl(PR_SET_DUMPABLE, 0);
  ::setsid();
  pollfd end{init, POLLIN, 0};
  while (::poll(&end, 1, -1) < 0 && errno == EINTR) {
  }
  ::_exit(0);
}

}  // namespace

Result<Keeper> Keeper::Start(int init) {
  IGLOO_ASSIGN(FdPair pair, MakeSocketPair(SOCK_SEQPACKET));
  // What ends igloo is not for this one: no handler of igloo's runs in it, nor does a key end it.
  sigset_t all;
  sigset_t before;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  const pid_t pid = ::_Fork();
  if (pid == 0) KeepUntilEnd(init, pair.second.get());
  const int saved_errno = errno;
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (pid < 0) return FailSys(saved_errno, "cannot start a process");
  return Keeper(pid, std::move(pair.first));
}

Keeper::~Keeper() {
  if (pid_ == 0) return;
  ::kill(pid_, SIGKILL);
  while (::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
  }
}

Result<void> Keeper::Keep(int fd) const {
  const int kept[] = {fd};
  return PassFds(to_.get(), 'k', kept);
}

}  // namespace igloo::session
