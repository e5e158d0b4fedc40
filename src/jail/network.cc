#include "jail/network.h"

#include <net/if.h>
#include <netinet/in.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include "jail/channel.h"
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
  syscall(SYS_close, socket_fd);
  return raised;
}

/// By socket, not by /proc: the root may be changing while this runs.
int CurrentNetwork() {
  const int socket_fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (socket_fd < 0) return -1;
  const int fd = ioctl(socket_fd, SIOCGSKNS);
  syscall(SYS_close, socket_fd);
  return fd;
}

alignas(16) unsigned char g_maker_stack[16384];
int g_maker_socket;

/// Shares memory with the process it helps, but no descriptors: a shared table would slow down
/// every call of the other one and make it wait for the kernel when it grows.
int MakerMain(void*) {
  // errno is shared, too: nothing here may write it but on the way to a failure that is told.
  const bool made = unshare(CLONE_NEWNET) == 0 && RaiseLoopback();
  const int fd = made ? CurrentNetwork() : -1;
  const int result = fd >= 0 ? 0 : errno;
  SendWithFds(g_maker_socket, &result, sizeof result, &fd, fd >= 0 ? 1 : 0);
  _exit(0);
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
  int sockets[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets) != 0) return false;
  setup.network_socket = sockets[0];
  g_maker_socket = sockets[1];
  // Whoever is PID 1 by then reaps it.
  const pid_t maker =
      clone(MakerMain, g_maker_stack + sizeof g_maker_stack, CLONE_VM | SIGCHLD, nullptr);
  CloseQuietly(sockets[1]);
  if (maker < 0) return false;
  MoveAway(maker);
  return true;
}

bool EnterNetwork(Setup& setup) {
  if (setup.network_socket < 0) return RaiseLoopback();
  int result = 0;
  int fd = -1;
  unsigned count = 0;
  errno = EIO;
  const bool come = ReceiveWithFds(setup.network_socket, &result, sizeof result, &fd, 1, count);
  CloseQuietly(setup.network_socket);
  if (!come || count != 1) {
    if (come) errno = result;
    return false;
  }
  const bool entered = setns(fd, CLONE_NEWNET) == 0;
  CloseQuietly(fd);
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
