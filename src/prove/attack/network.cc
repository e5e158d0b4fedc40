// Attacks on the network: everything that reaches beyond the sandbox's own loopback.
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "attack.h"

namespace igloo::attack {
namespace {

sockaddr_in Loopback(long port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

/// PORT: a server on the host's loopback.
int ConnectTcp(const Words& words) {
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd < 0) Broken("a TCP socket is everybody's");
  const sockaddr_in address = Loopback(words.Number(0));
  return WonIf(connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0,
               "connected to the host's loopback");
}

/// PORT: where nobody listens, a second send finds the refusal of the first.
int SendUdp(const Words& words) {
  const int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (fd < 0) Broken("a UDP socket is everybody's");
  const sockaddr_in address = Loopback(words.Number(0));
  if (connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    return Held("connect");
  }
  if (send(fd, "x", 1, 0) != 1) return Held("send");
  pollfd state{fd, POLLIN, 0};
  if (poll(&state, 1, 200) > 0 && (state.revents & POLLERR) != 0) return Held("nobody is there");
  return Won("a datagram reached the host");
}

int ConnectUnix(const char* name, bool abstract) {
  const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd < 0) return Held("socket");
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  char* const to = address.sun_path + (abstract ? 1 : 0);
  const size_t size = strlen(name);
  if (size + 2 > sizeof address.sun_path) Broken("the name is too long");
  memcpy(to, name, size);
  const auto length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + size + 1);
  return WonIf(connect(fd, reinterpret_cast<const sockaddr*>(&address), length) == 0,
               "connected to a server of the host");
}

/// NAME
int ConnectAbstract(const Words& words) { return ConnectUnix(words[0], true); }
/// PATH
int ConnectPath(const Words& words) { return ConnectUnix(words[0], false); }

/// FAMILY TYPE PROTOCOL
int OpenSocket(const Words& words) {
  const int fd = socket(static_cast<int>(words.Number(0)), static_cast<int>(words.Number(1)),
                        static_cast<int>(words.Number(2)));
  return WonIf(fd >= 0, "socket");
}

/// PORT: a listener of the host in the kernel's own table.
int SeeListener(const Words& words) {
  char wanted[32];
  snprintf(wanted, sizeof wanted, "0100007F:%04lX", words.Number(0));
  FILE* table = fopen("/proc/net/tcp", "r");
  if (table == nullptr) return Held("open");
  char line[512];
  while (fgets(line, sizeof line, table) != nullptr) {
    if (strstr(line, wanted) != nullptr) return Won("saw a listener of the host");
  }
  return Held("it is not in the table");
}

/// NAME: the same for unix sockets, whose names the kernel shows.
int SeeUnixSocket(const Words& words) {
  FILE* table = fopen("/proc/net/unix", "r");
  if (table == nullptr) return Held("open");
  char line[512];
  while (fgets(line, sizeof line, table) != nullptr) {
    if (strstr(line, words[0]) != nullptr) return Won("saw a socket of the host");
  }
  return Held("it is not in the table");
}

constexpr Attack kTable[] = {
    {"connect-tcp", "network", ConnectTcp},           {"send-udp", "network", SendUdp},
    {"connect-abstract", "network", ConnectAbstract}, {"connect-path", "network", ConnectPath},
    {"open-socket", "network", OpenSocket},           {"see-listener", "network", SeeListener},
    {"see-unix-socket", "network", SeeUnixSocket},
};

}  // namespace

extern const Family kNetwork = {kTable, sizeof kTable / sizeof kTable[0]};

}  // namespace igloo::attack
