#include "jail/network.h"

#include <net/if.h>
#include <netinet/in.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

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
  syscall(SYS_close, socket_fd);  // errno stays, see jail/helper.cc
  return raised;
}

}  // namespace

bool PrepareNetwork(int proc_fd) {
  // A connection that was reset keeps what it has received and is in no list of the kernel's that
  // igloo-init could ask: its buffers are bounded instead. There is no distance to bridge, so more
  // would not be faster.
  const auto bound = [&](const char* path, const char* value) {
    return WriteTextAt(proc_fd, path, value) || errno == ENOENT;  // a kernel without IPv4
  };
  return RaiseLoopback() && bound("sys/net/ipv4/tcp_rmem", "4096 131072 262144") &&
         bound("sys/net/ipv4/tcp_wmem", "4096 16384 262144");
}

int CurrentNetwork() {
  const int socket_fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (socket_fd < 0) return -1;
  const int fd = ioctl(socket_fd, SIOCGSKNS);
  syscall(SYS_close, socket_fd);
  return fd;
}

uint64_t CountersOf(int proc_fd) {
  // FNV-1a over every file that counts what a namespace has seen.
  constexpr const char* kFiles[] = {"self/net/dev", "self/net/snmp", "self/net/snmp6",
                                    "self/net/netstat"};
  uint64_t hash = 0xcbf29ce484222325;
  for (const char* file : kFiles) {
    const ScopedFd fd(openat(proc_fd, file, O_RDONLY | O_CLOEXEC));
    // In small pieces on the stack: every sandbox that lives has a copy of what is written to here.
    char text[1024];
    for (ssize_t count = 0; (count = read(fd.get(), text, sizeof text)) > 0;) {
      for (ssize_t i = 0; i < count; ++i) {
        hash = (hash ^ static_cast<unsigned char>(text[i])) * 0x100000001b3;
      }
    }
  }
  return hash;
}

bool HasNoSockets(int proc_fd) {
  char text[2048];
  // The first of all families and kinds, whether they are used or not: igloo may still hold some.
  // What else lists sockets (unix, sockstat6) would say the same and costs a fortieth of a run.
  if (!kernel::ReadTextAt(proc_fd, "self/net/sockstat", text, sizeof text)) return false;
  constexpr const char* kCounts[] = {"sockets: used", "TCP: inuse", "UDP: inuse", "RAW: inuse",
                                     "FRAG: inuse"};
  for (const char* label : kCounts) {
    if (kernel::NumberBehind(text, label, 1) != 0) return false;
  }
  return true;
}

int PlainSocket() { return socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0); }

int ListenOn(uint16_t port) {
  const int fd = PlainSocket();
  if (fd < 0) return -1;
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (bind(fd, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0 &&
      listen(fd, 1024) == 0) {
    return fd;
  }
  CloseQuietly(fd);
  return -1;
}

}  // namespace igloo::jail
