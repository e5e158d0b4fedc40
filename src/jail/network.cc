#include "jail/network.h"

#include <net/if.h>
#include <netinet/in.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include "jail/sys.h"

#ifndef SIOCGSKNS
#define SIOCGSKNS 0x894C
#endif

namespace igloo::jail {
namespace {

bool RaiseLoopback() {
  const int socket_fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (socket_fd < 0) return false;
  ifreq request{};
  strcpy(request.ifr_name, "lo");
  request.ifr_flags = IFF_UP;
  const bool raised = ioctl(socket_fd, SIOCSIFFLAGS, &request) == 0;
  CloseQuietly(socket_fd);
  return raised;
}

/// By socket, not by /proc: the root may be changing while this runs.
int CurrentNetwork() {
  const int socket_fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (socket_fd < 0) return -1;
  const int fd = ioctl(socket_fd, SIOCGSKNS);
  CloseQuietly(socket_fd);
  return fd;
}

alignas(16) unsigned char g_maker_stack[16384];

/// Shares memory and descriptors with the process it helps, so it leaves its result in place.
int MakerMain(void* argument) {
  auto* setup = static_cast<Setup*>(argument);
  if (unshare(CLONE_NEWNET) != 0 || !RaiseLoopback()) return errno;
  const int fd = CurrentNetwork();
  if (fd < 0) return errno;
  setup->network_fd = fd;
  return 0;
}

}  // namespace

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

bool BeginNetwork(Setup& setup) {
  setup.network_fd = -1;
  setup.network_maker = clone(MakerMain, g_maker_stack + sizeof g_maker_stack,
                              CLONE_VM | CLONE_FILES | SIGCHLD, &setup);
  if (setup.network_maker <= 0) return false;
  MoveAway(setup.network_maker);
  return true;
}

bool EnterNetwork(Setup& setup) {
  if (setup.network_maker == 0) return RaiseLoopback();
  int status = 0;
  pid_t ended = 0;
  do {
    ended = waitpid(setup.network_maker, &status, 0);
  } while (ended < 0 && errno == EINTR);
  if (ended < 0) return false;
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
    errno = WIFEXITED(status) ? WEXITSTATUS(status) : EIO;
    return false;
  }
  const bool entered = setns(setup.network_fd, CLONE_NEWNET) == 0;
  CloseQuietly(setup.network_fd);
  setup.network_maker = 0;
  return entered;
}

int ListenOn(uint16_t port) {
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd < 0) return -1;
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (bind(fd, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0 && listen(fd, 64) == 0) {
    return fd;
  }
  CloseQuietly(fd);
  return -1;
}

}  // namespace igloo::jail
