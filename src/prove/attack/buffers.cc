// Attacks on memory that lies in the buffers of sockets.
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "attack.h"

namespace igloo::attack {
namespace {

constexpr unsigned long kOutQueue = 0x5411;  // SIOCOUTQ
constexpr size_t kPiece = 32U << 10;
char g_piece[kPiece];

/// Writes until there is no room; what was taken.
long Fill(int fd) {
  long taken = 0;
  for (;;) {
    const ssize_t count = send(fd, g_piece, sizeof g_piece, MSG_DONTWAIT | MSG_NOSIGNAL);
    if (count <= 0) return taken;
    taken += count;
  }
}

bool Pair(int type, int (&ends)[2]) { return socketpair(AF_UNIX, type, 0, ends) == 0; }

/// Two ends of a connection over loopback.
bool Connection(int (&ends)[2]) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  const int listener = socket(AF_INET, SOCK_STREAM, 0);
  if (listener < 0) return false;
  auto* const where = reinterpret_cast<sockaddr*>(&address);
  ends[0] = socket(AF_INET, SOCK_STREAM, 0);
  const bool made = ends[0] >= 0 && bind(listener, where, size) == 0 && listen(listener, 1) == 0 &&
                    getsockname(listener, where, &size) == 0 && connect(ends[0], where, size) == 0;
  ends[1] = made ? accept(listener, nullptr, nullptr) : -1;
  close(listener);
  return ends[1] >= 0;
}

// Each of these makes one socket, or a pair, that holds as much as it can; how much, 0 when there
// is no descriptor left for it.

long Stream() {
  int ends[2];
  return Pair(SOCK_STREAM, ends) ? Fill(ends[0]) : 0;
}
long Datagrams() {
  int ends[2];
  return Pair(SOCK_DGRAM, ends) ? Fill(ends[0]) : 0;
}
/// The sender is gone; what it sent waits.
long Closed() {
  int ends[2];
  if (!Pair(SOCK_STREAM, ends)) return 0;
  const long taken = Fill(ends[0]);
  close(ends[0]);
  return taken;
}
long Tcp() {
  int ends[2];
  return Connection(ends) ? Fill(ends[0]) : 0;
}
/// A connection that was reset is closed, but keeps what it has received.
long Reset() {
  int ends[2];
  if (!Connection(ends)) return 0;
  const long taken = Fill(ends[0]);
  int waiting = 0;
  if (ioctl(ends[0], kOutQueue, &waiting) != 0) Broken("SIOCOUTQ");
  const linger none{1, 0};
  setsockopt(ends[0], SOL_SOCKET, SO_LINGER, &none, sizeof none);
  close(ends[0]);
  return taken - waiting;
}
/// More than fits is dropped without a word, so what was taken is a guess.
long Udp() {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  const int fd = socket(AF_INET, SOCK_DGRAM, 0);
  if (fd < 0) return 0;
  auto* const where = reinterpret_cast<sockaddr*>(&address);
  if (bind(fd, where, size) != 0 || getsockname(fd, where, &size) != 0) Broken("bind");
  if (connect(fd, where, size) != 0) Broken("connect");
  for (int i = 0; i < 8; ++i) send(fd, g_piece, sizeof g_piece, MSG_DONTWAIT);
  return static_cast<long>(4 * kPiece);
}
/// The socket itself is under way in another one: no process has it open.
long InFlight() {
  static int carrier[2] = {-1, -1};
  static int carried = 0;
  if (carrier[0] < 0 || carried == 100) {
    carried = 0;
    if (!Pair(SOCK_STREAM, carrier)) return 0;
  }
  int ends[2];
  if (!Pair(SOCK_STREAM, ends)) return 0;
  const long taken = Fill(ends[0]);
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
  char byte = 'x';
  iovec part{&byte, 1};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  cmsghdr* header = CMSG_FIRSTHDR(&message);
  header->cmsg_level = SOL_SOCKET;
  header->cmsg_type = SCM_RIGHTS;
  header->cmsg_len = CMSG_LEN(sizeof(int));
  memcpy(CMSG_DATA(header), &ends[1], sizeof(int));
  const bool sent = sendmsg(carrier[0], &message, MSG_NOSIGNAL | MSG_DONTWAIT) == 1;
  close(ends[0]);
  close(ends[1]);
  ++carried;
  return sent ? taken : 0;
}

struct Kind {
  const char* name;
  long (*make)();
};
constexpr Kind kKinds[] = {
    {"stream", Stream},   {"datagrams", Datagrams}, {"closed", Closed},
    {"tcp", Tcp},         {"reset", Reset},         {"udp", Udp},
    {"flight", InFlight},
};

/// A process has few descriptors: several of them share the work. Each tells what it got and keeps
/// it as long as the attack lasts.
[[noreturn]] void Work(const Kind& kind, int answer) {
  constexpr long kShare = 32L << 20;
  prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
  long held = 0;
  for (long more = 1; more > 0 && held < kShare;) held += more = kind.make();
  if (write(answer, &held, sizeof held) != sizeof held) _exit(1);
  for (;;) pause();
}

/// KIND MEGABYTES: kept for two seconds, so that whoever counts from time to time sees it.
int FillSockets(const Words& words) {
  const Kind* kind = nullptr;
  for (const Kind& each : kKinds) {
    if (strcmp(each.name, words[0]) == 0) kind = &each;
  }
  if (kind == nullptr) Broken("no such kind");
  memset(g_piece, 'x', sizeof g_piece);
  const long wanted = words.Number(1) << 20;
  constexpr int kMostWorkers = 60;
  for (long held = 0, workers = 0; held < wanted; ++workers) {
    int answer[2];
    if (pipe(answer) != 0) Broken("pipe");
    const pid_t worker = workers < kMostWorkers ? fork() : -1;
    if (worker < 0) return Held("there are no more processes");
    if (worker == 0) Work(*kind, answer[1]);
    close(answer[1]);
    long part = 0;
    if (read(answer[0], &part, sizeof part) != sizeof part) return Held("a worker is gone");
    close(answer[0]);
    held += part;
    if (part == 0) return Held("no more can be had");
  }
  poll(nullptr, 0, 2000);
  return Won("kept all of it");
}

constexpr Attack kTable[] = {{"fill-sockets", "buffers", FillSockets}};

}  // namespace

extern const Family kBuffers = {kTable, sizeof kTable / sizeof kTable[0]};

}  // namespace igloo::attack
