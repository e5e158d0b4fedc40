#include "jail/helper.h"

#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include "jail/channel.h"
#include "jail/network.h"
#include "jail/sys.h"

namespace igloo::jail {
namespace {

alignas(16) unsigned char g_stack[16384];
int g_socket;
int g_proc;  ///< a /proc

/// Shares memory with the process it helps, but no descriptors: a shared table would slow down
/// every call of the other one and make it wait for the kernel when it grows.
int HelperMain(void*) {
  // errno is shared, too: nothing here may write it but on the way to a failure that is told.
  const bool made = unshare(CLONE_NEWNET) == 0 && PrepareNetwork(g_proc);
  const int fd = made ? CurrentNetwork() : -1;
  int result = fd >= 0 ? 0 : errno;
  SendWithFds(g_socket, &result, sizeof result, &fd, fd >= 0 ? 1 : 0);
  char order = 0;
  if (read(g_socket, &order, 1) == 1) {
    result = umount2("/", MNT_DETACH) == 0 ? 0 : errno;
    (void)!write(g_socket, &result, sizeof result);
  }
  _exit(0);
}

/// The scheduler starts a child on its parent's processor, where it would wait for the parent to
/// sleep: the two would work one after the other. Any other allowed one will do; failing is fine.
void MoveAway(pid_t pid) {
  unsigned here = 0;
  cpu_set_t allowed;
  if (syscall(SYS_getcpu, &here, nullptr, nullptr) != 0 ||
      sched_getaffinity(0, sizeof allowed, &allowed) != 0) {
    return;
  }
  CPU_CLR(here, &allowed);
  if (CPU_COUNT(&allowed) > 0) sched_setaffinity(pid, sizeof allowed, &allowed);
}

/// The helper's first answer: the namespace as a descriptor, or -1 with errno.
int ReceiveNetwork(Setup& setup) {
  int result = 0;
  int fd = -1;
  unsigned count = 0;
  errno = EIO;
  setup.network_received = true;
  if (!ReceiveWithFds(setup.helper_socket, &result, sizeof result, &fd, 1, count)) return -1;
  if (count != 1) errno = result;
  return fd;
}

}  // namespace

bool StartHelper(Setup& setup) {
  int sockets[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets) != 0) return false;
  setup.helper_socket = sockets[0];
  g_socket = sockets[1];
  g_proc = setup.proc_fd;
  const pid_t pid = clone(HelperMain, g_stack + sizeof g_stack, CLONE_VM | SIGCHLD, nullptr);
  CloseQuietly(sockets[1]);
  if (pid < 0) return false;
  setup.helper = pid;
  MoveAway(pid);
  return true;
}

bool EnterNetwork(Setup& setup) {
  if (setup.network_ready) return true;
  const int fd = ReceiveNetwork(setup);
  if (fd < 0) return false;
  const bool entered = setns(fd, CLONE_NEWNET) == 0;
  CloseQuietly(fd);
  return entered;
}

bool DropOldRoot(Setup& setup) {
  if (setup.helper_socket < 0) return umount2("/", MNT_DETACH) == 0;
  setup.old_root_leaving = true;
  return write(setup.helper_socket, "u", 1) == 1;
}

bool OldRootIsGone(Setup& setup) {
  if (!setup.old_root_leaving) return true;
  // Answers come in the order of the work; a run on the host's network never asked for the first.
  if (!setup.network_received) CloseQuietly(ReceiveNetwork(setup));
  int result = 0;
  errno = EIO;
  if (read(setup.helper_socket, &result, sizeof result) != sizeof result) return false;
  // It still has every right over the sandbox, so the code inside never meets it.
  while (waitpid(setup.helper, nullptr, 0) < 0 && errno == EINTR) {
  }
  errno = result;
  return result == 0;
}

}  // namespace igloo::jail
