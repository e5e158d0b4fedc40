#include "copy/descriptor_holder.h"

#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>

#include "base/file.h"
#include "base/pass.h"

namespace igloo::copy {
namespace {

/// In a copy of a process with many threads: nothing but system calls. What it keeps lies in a
/// socket that nobody reads. It is told to end by a byte; an end of file means that the other one
/// was killed, and it stays.
[[noreturn]] void KeepUntilEnd(int init, int socket, int told) {
  // First of all: some of the others are what sandboxes know by that igloo is there.
  ::dup2(init, 0);
  ::dup2(socket, 1);
  ::dup2(told, 2);
  ::syscall(SYS_close_range, 3, ~0U, 0);
  ::prctl(PR_SET_NAME, "igloo-holder");
  ::prctl(PR_SET_DUMPABLE, 0);
  ::setsid();
  pollfd ends[] = {{0, POLLIN, 0}, {2, POLLIN, 0}};
  for (;;) {
    const int ready = ::poll(ends, ends[1].fd < 0 ? 1 : 2, -1);
    if (ready < 0 && errno == EINTR) continue;
    if (ready < 0 || ends[0].revents != 0 || (ends[1].revents & POLLIN) != 0) ::_exit(0);
    ends[1].fd = -1;  // nobody will tell it any more
  }
}

}  // namespace

Result<DescriptorHolder> DescriptorHolder::Start(int init) {
  IGLOO_ASSIGN(FdPair pair, MakeSocketPair(SOCK_SEQPACKET));
  IGLOO_ASSIGN(FdPair told, MakePipe());
  // What ends igloo is not for this one: no handler of igloo's runs in it, nor does a key end it.
  sigset_t all;
  sigset_t before;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  const pid_t pid = ::_Fork();
  if (pid == 0) KeepUntilEnd(init, pair.second.get(), told.first.get());
  const int saved_errno = errno;
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (pid < 0) return FailSys(saved_errno, "cannot start a process");
  return DescriptorHolder(pid, std::move(pair.first), std::move(told.second));
}

DescriptorHolder::~DescriptorHolder() {
  if (pid_ == 0) return;
  // Not by a signal: this process may send none.
  (void)!::write(tell_.get(), "e", 1);
  while (::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
  }
}

void DescriptorHolder::Leave() {
  pid_ = 0;
  tell_.Reset();
}

Result<void> DescriptorHolder::Keep(int fd) const {
  const int kept[] = {fd};
  return PassFds(to_.get(), 'k', kept);
}

}  // namespace igloo::copy
