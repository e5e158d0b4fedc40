#include "jail/network.h"

#include <net/if.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include "jail/sys.h"

#ifndef SIOCGSKNS
#define SIOCGSKNS 0x894C
#endif

namespace igloo::jail {

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

int CurrentNetwork() {
  const int socket_fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (socket_fd < 0) return -1;
  const int fd = ioctl(socket_fd, SIOCGSKNS);
  syscall(SYS_close, socket_fd);
  return fd;
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
