#include "jail/channel.h"

#include <sched.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include "jail/sys.h"

namespace igloo::jail {
namespace {

/// The body of the request being handled. Untouched pages cost nothing.
alignas(4096) unsigned char g_body[ops::kMaxBytes];

/// The kernel takes at most 253 descriptors with one message.
constexpr unsigned kFdsPerMessage = 128;

struct Forward {
  ops::Request request;
  uint32_t source_count;
};

bool SendAll(int socket, const void* from, size_t size) {
  return kernel::MoveAll(size, [&](size_t done, size_t left) {
    return send(socket, static_cast<const unsigned char*>(from) + done, left, MSG_NOSIGNAL);
  });
}

union ControlBuffer {
  cmsghdr align;
  char bytes[CMSG_SPACE(sizeof(int) * kFdsPerMessage)];
};

bool SaneGroup(const ops::Request& request) {
  const bool born = (request.flags & ops::kRequestIntoCgroup) != 0;
  const uint32_t without = ops::kControl + request.init_fds;
  return request.fd_count == without + 1 || (request.fd_count <= without && !born);
}

size_t BodySize(const ops::Request& request) {
  return size_t{request.environment_bytes} + request.fresh_bytes + request.run_bytes;
}

bool SaneRequest(const ops::Request& request, unsigned fd_count) {
  return request.magic == ops::kMagic && BodySize(request) <= ops::kMaxBytes &&
         fd_count == request.fd_count && fd_count >= 1 && request.fresh_bytes % 8 == 0 &&
         request.init_fds < fd_count && SaneGroup(request) && request.environment_bytes % 8 == 0 &&
         request.inner_uid != 0 && request.inner_gid != 0;
}

}  // namespace

bool ReceiveWithFds(int socket, void* to, size_t size, int* fds, unsigned max, unsigned& count) {
  ControlBuffer control;
  iovec io{to, size};
  msghdr message{};
  message.msg_iov = &io;
  message.msg_iovlen = 1;
  message.msg_control = control.bytes;
  message.msg_controllen = sizeof control.bytes;
  ssize_t got = 0;
  do {
    got = recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
  } while (got < 0 && errno == EINTR);
  if (got <= 0) return false;
  count = 0;
  // The kernel puts all descriptors of one message behind one header.
  const cmsghdr* header = CMSG_FIRSTHDR(&message);
  if (header != nullptr && header->cmsg_level == SOL_SOCKET && header->cmsg_type == SCM_RIGHTS) {
    count = static_cast<unsigned>((header->cmsg_len - CMSG_LEN(0)) / sizeof(int));
    if (count > max) return false;
    memcpy(fds, CMSG_DATA(header), count * sizeof(int));
  }
  if ((message.msg_flags & MSG_CTRUNC) != 0) return false;
  const auto rest = size - static_cast<size_t>(got);
  return kernel::ReadAll(socket, static_cast<unsigned char*>(to) + got, rest);
}

bool SendWithFds(int socket, const void* from, size_t size, const int* fds, unsigned count) {
  ControlBuffer control;
  iovec io{const_cast<void*>(from), size};
  msghdr message{};
  message.msg_iov = &io;
  message.msg_iovlen = 1;
  if (count > 0) {
    message.msg_control = control.bytes;
    message.msg_controllen = CMSG_SPACE(sizeof(int) * count);
    cmsghdr* header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof(int) * count);
    memcpy(CMSG_DATA(header), fds, sizeof(int) * count);
  }
  ssize_t sent = 0;
  do {
    sent = sendmsg(socket, &message, MSG_NOSIGNAL);
  } while (sent < 0 && errno == EINTR);
  if (sent < 0) return false;
  const auto rest = size - static_cast<size_t>(sent);
  return SendAll(socket, static_cast<const unsigned char*>(from) + sent, rest);
}

bool ReceiveJob(int socket, Job& job) {
  unsigned count = 0;
  if (!ReceiveWithFds(socket, &job.request, sizeof job.request, job.fds, ops::kMaxFds, count)) {
    return false;
  }
  job.body = g_body;
  return SaneRequest(job.request, count) && kernel::ReadAll(socket, g_body, BodySize(job.request));
}

bool SendJob(int socket, const Job& job, const Sources& sources) {
  const Forward forward{job.request, sources.count};
  if (!SendWithFds(socket, &forward, sizeof forward, job.fds, job.request.fd_count)) return false;
  for (unsigned done = 0; done < sources.count; done += kFdsPerMessage) {
    const unsigned left = sources.count - done;
    const unsigned here = left < kFdsPerMessage ? left : kFdsPerMessage;
    if (!SendWithFds(socket, "s", 1, sources.fds + done, here)) return false;
  }
  return SendAll(socket, job.body, BodySize(job.request));
}

bool ReceiveForwarded(int socket, Job& job, Sources& sources) {
  Forward forward;
  unsigned count = 0;
  if (!ReceiveWithFds(socket, &forward, sizeof forward, job.fds, ops::kMaxFds, count) ||
      count != forward.request.fd_count || forward.source_count > kMaxSources) {
    return false;
  }
  job.request = forward.request;
  job.body = g_body;
  for (sources.count = 0; sources.count < forward.source_count; sources.count += count) {
    char mark = 0;
    int* const next = sources.fds + sources.count;
    const unsigned room = forward.source_count - sources.count;
    if (!ReceiveWithFds(socket, &mark, 1, next, room, count) || count == 0) return false;
  }
  return kernel::ReadAll(socket, g_body, BodySize(job.request));
}

void ReleaseBody(const Job& job) {
  constexpr size_t kKeep = size_t{256} << 10;
  const size_t size = BodySize(job.request);
  if (size > kKeep) madvise(g_body + kKeep, size - kKeep, MADV_DONTNEED);
}

void AwaitSoon(int socket) {
  constexpr uint64_t kMomentMicros = 2'000;
  char ignored;
  for (const uint64_t end = NowMicros() + kMomentMicros; NowMicros() < end;) {
    if (recv(socket, &ignored, 1, MSG_PEEK | MSG_DONTWAIT) >= 0) return;
    if (errno != EAGAIN) return;
    sched_yield();
  }
}

void ForgetBodies() { madvise(g_body, sizeof g_body, MADV_DONTNEED); }

void CloseAll(const int* fds, unsigned count) {
  for (unsigned i = 0; i < count; ++i) CloseQuietly(fds[i]);
}

void SendReply(int socket, const ops::Reply& reply, int fd) {
  // igloo may have gone; then nobody needs the answer and the lifeline ends the rest.
  (void)SendWithFds(socket, &reply, sizeof reply, &fd, fd >= 0 ? 1 : 0);
}

void SendReply(int socket, ops::ReplyKind kind, int fd) {
  ops::Reply reply{};
  reply.kind = kind;
  SendReply(socket, reply, fd);
}

void SendFailure(int socket, const Failure& failure) {
  ops::Reply reply{};
  reply.kind = ops::ReplyKind::kFailed;
  reply.step = failure.step;
  reply.index = failure.index;
  reply.sys_errno = failure.sys_errno;
  SendReply(socket, reply);
}

void FailAndExit(int socket, const Failure& failure) {
  SendFailure(socket, failure);
  _exit(125);
}

}  // namespace igloo::jail
