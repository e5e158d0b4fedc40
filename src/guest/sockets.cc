#include "guest/sockets.h"

#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/netlink_diag.h>
#include <linux/sock_diag.h>
#include <linux/unix_diag.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "kernel/calls.h"

namespace igloo::guest {
namespace {

// What igloo-jail allows a TCP socket in each direction; the other kinds have less.
constexpr uint64_t kTcpBuffer = 256U << 10;

alignas(8) char g_answer[32768];

/// Sockets that exist, also those that were closed while data from them waits somewhere.
uint64_t CountSockets(int proc_fd) {
  char text[4096];
  kernel::ReadTextAt(proc_fd, "self/net/sockstat", text, sizeof text);
  return kernel::NumberBehind(text, "sockets: used ");
}

/// The last of three numbers: the most that the kernel lets a buffer grow to.
uint64_t MostOf(int proc_fd, const char* setting) {
  char text[4096];
  kernel::ReadTextAt(proc_fd, setting, text, sizeof text);
  const char* last = strrchr(text, '\t');
  return last != nullptr ? strtoull(last + 1, nullptr, 10) : kTcpBuffer;
}

/// How much one socket can hold, by the settings of this machine and of this namespace.
struct Most {
  uint64_t any;     ///< a socket of any kind
  uint64_t hidden;  ///< one that the kernel does not list; see below
};

Most g_most;  ///< once it was needed

Most FindMost(int proc_fd) {
  int send = 0;
  int receive = 0;
  socklen_t size = sizeof send;
  const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  getsockopt(fd, SOL_SOCKET, SO_SNDBUF, &send, &size);
  getsockopt(fd, SOL_SOCKET, SO_RCVBUF, &receive, &size);
  close(fd);
  // The kernel takes the last message as a whole, so a buffer may be half full again.
  Most most{.any = 0, .hidden = static_cast<uint64_t>(send) * 3 / 2};
  if (most.hidden < static_cast<uint64_t>(receive)) most.hidden = static_cast<uint64_t>(receive);
  if (most.hidden < kTcpBuffer) most.hidden = kTcpBuffer;
  most.any = MostOf(proc_fd, "sys/net/ipv4/tcp_rmem") + MostOf(proc_fd, "sys/net/ipv4/tcp_wmem");
  if (most.any < most.hidden) most.any = most.hidden;
  return most;
}

struct Listed {
  uint64_t sockets;
  uint64_t bytes;
};

/// What one socket holds, by the kernel's own account of it.
uint64_t BytesOf(const uint32_t* memory, size_t count) {
  if (count <= SK_MEMINFO_BACKLOG) return 0;
  // Of TCP: what is queued and what was handed on are copies of the same data.
  const uint32_t sent = memory[SK_MEMINFO_WMEM_ALLOC] > memory[SK_MEMINFO_WMEM_QUEUED]
                            ? memory[SK_MEMINFO_WMEM_ALLOC]
                            : memory[SK_MEMINFO_WMEM_QUEUED];
  return uint64_t{memory[SK_MEMINFO_RMEM_ALLOC]} + sent + memory[SK_MEMINFO_BACKLOG];
}

/// The kinds of sockets that the kernel can list. Their answers differ in the size of what stands
/// before the attributes, and in the attribute with the account.
struct Kind {
  size_t head;
  uint16_t account;
};
constexpr Kind kUnix = {sizeof(unix_diag_msg), UNIX_DIAG_MEMINFO};
constexpr Kind kInternet = {sizeof(inet_diag_msg), INET_DIAG_SKMEMINFO};
constexpr Kind kNetlink = {sizeof(netlink_diag_msg), NETLINK_DIAG_MEMINFO};

void AddMessage(const nlmsghdr& header, const Kind& kind, Listed& listed) {
  const char* const message = reinterpret_cast<const char*>(&header);
  netlink_diag_msg netlink{};
  if (&kind == &kNetlink) memcpy(&netlink, message + NLMSG_HDRLEN, sizeof netlink);
  // The kernel's own ends are listed there, but in no count of sockets.
  if (&kind == &kNetlink && netlink.ndiag_portid == 0) return;
  ++listed.sockets;
  for (size_t at = NLMSG_HDRLEN + NLMSG_ALIGN(kind.head); at + NLA_HDRLEN <= header.nlmsg_len;) {
    nlattr attribute;
    memcpy(&attribute, message + at, sizeof attribute);
    if (attribute.nla_len < NLA_HDRLEN || at + attribute.nla_len > header.nlmsg_len) return;
    uint32_t memory[SK_MEMINFO_VARS] = {};
    size_t size = attribute.nla_len - NLA_HDRLEN;
    if (size > sizeof memory) size = sizeof memory;
    if (attribute.nla_type == kind.account) {
      memcpy(memory, message + at + NLA_HDRLEN, size);
      listed.bytes += BytesOf(memory, size / sizeof memory[0]);
    }
    at += NLA_ALIGN(attribute.nla_len);
  }
}

/// Adds all sockets of one kind. A kernel that cannot list them leaves them hidden.
template <class Request>
void List(int fd, const Request& request, const Kind& kind, Listed& listed) {
  struct {
    nlmsghdr header;
    Request request;
  } question = {};
  question.header.nlmsg_len = sizeof question;
  question.header.nlmsg_type = SOCK_DIAG_BY_FAMILY;
  question.header.nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP;
  question.request = request;
  if (send(fd, &question, sizeof question, 0) < 0) return;
  for (;;) {
    const ssize_t size = recv(fd, g_answer, sizeof g_answer, 0);
    if (size < static_cast<ssize_t>(sizeof(nlmsghdr))) return;
    for (size_t at = 0; at + sizeof(nlmsghdr) <= static_cast<size_t>(size);) {
      const auto& header = *reinterpret_cast<const nlmsghdr*>(g_answer + at);
      if (header.nlmsg_type != SOCK_DIAG_BY_FAMILY) return;  // the end, or an error
      if (header.nlmsg_len < sizeof header || at + header.nlmsg_len > static_cast<size_t>(size)) {
        return;
      }
      AddMessage(header, kind, listed);
      at += NLMSG_ALIGN(header.nlmsg_len);
    }
  }
}

Listed ListAll(int fd) {
  Listed listed{};
  unix_diag_req of_unix{};
  of_unix.sdiag_family = AF_UNIX;
  of_unix.udiag_states = ~0U;
  of_unix.udiag_show = UDIAG_SHOW_MEMINFO;
  List(fd, of_unix, kUnix, listed);
  constexpr int kFamilies[] = {AF_INET, AF_INET6};
  constexpr int kProtocols[] = {IPPROTO_TCP, IPPROTO_UDP};
  for (const int family : kFamilies) {
    for (const int protocol : kProtocols) {
      // Without those that are no sockets any more, or not yet: they hold nothing.
      constexpr uint32_t kTimeWait = 1U << 6, kHalfOpen = 1U << 3 | 1U << 12;
      inet_diag_req_v2 internet{};
      internet.sdiag_family = static_cast<uint8_t>(family);
      internet.sdiag_protocol = static_cast<uint8_t>(protocol);
      internet.idiag_ext = 1U << (INET_DIAG_SKMEMINFO - 1);
      internet.idiag_states = ~(kTimeWait | kHalfOpen);
      List(fd, internet, kInternet, listed);
    }
  }
  netlink_diag_req netlink{};
  netlink.sdiag_family = AF_NETLINK;
  netlink.sdiag_protocol = NDIAG_PROTO_ALL;
  netlink.ndiag_show = NDIAG_SHOW_MEMINFO;
  List(fd, netlink, kNetlink, listed);
  return listed;
}

}  // namespace

uint64_t ReadSocketUse(int proc_fd, uint64_t interesting) {
  const uint64_t before = CountSockets(proc_fd);
  if (before == 0) return 0;
  if (g_most.any == 0) g_most = FindMost(proc_fd);
  if (before * g_most.any < interesting) return 0;
  const int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_SOCK_DIAG);
  const Listed listed = fd >= 0 ? ListAll(fd) : Listed{};
  close(fd);
  const uint64_t after = CountSockets(proc_fd);
  const uint64_t all = before < after ? before : after;
  // SECURITY: a Unix socket that was closed while its data waits, and a connection that was reset,
  // are in no list and still hold memory. They are counted as full.
  const uint64_t hidden = all > listed.sockets ? all - listed.sockets : 0;
  return listed.bytes + hidden * g_most.hidden;
}

}  // namespace igloo::guest
