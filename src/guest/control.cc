#include "guest/control.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include "guest/init.h"
#include "guest/payload.h"

namespace igloo::guest {
namespace {

int g_passed = -1;  ///< the descriptor that came last beside a frame

/// SECURITY: nobody but igloo has the other end.
ssize_t Receive(void* to, size_t size) {
  alignas(cmsghdr) char room[CMSG_SPACE(sizeof(int))];
  iovec space{to, size};
  msghdr message{};
  message.msg_iov = &space;
  message.msg_iovlen = 1;
  message.msg_control = room;
  message.msg_controllen = sizeof room;
  const ssize_t count = recvmsg(kControlFd, &message, MSG_CMSG_CLOEXEC);
  const cmsghdr* header = count > 0 ? CMSG_FIRSTHDR(&message) : nullptr;
  if (header != nullptr && header->cmsg_level == SOL_SOCKET && header->cmsg_type == SCM_RIGHTS) {
    if (g_passed >= 0) close(g_passed);
    memcpy(&g_passed, CMSG_DATA(header), sizeof g_passed);
  }
  return count;
}

bool ReadExactly(void* to, size_t size) {
  auto* at = static_cast<unsigned char*>(to);
  while (size > 0) {
    const ssize_t count = Receive(at, size);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return false;
    at += count;
    size -= static_cast<size_t>(count);
  }
  return true;
}

}  // namespace

uint32_t ReadFrame(unsigned char* to, uint32_t most) {
  unsigned char header[wire::kHeaderSize];
  if (!ReadExactly(header, sizeof header)) return 0;
  const uint32_t size = wire::DecodeLength(header);
  if (size == 0 || size > most || !ReadExactly(to, size)) return 0;
  return size;
}

int TakePassed() {
  const int passed = g_passed;
  g_passed = -1;
  return passed;
}

void ReportWriter::Send() {
  wire::EncodeLength(static_cast<uint32_t>(size_ - wire::kHeaderSize), bytes_);
  // A host that is gone needs no report; the exit that follows ends everything anyway.
  (void)send(kControlFd, bytes_, size_, MSG_NOSIGNAL);
}

void ReportWriter::Integer(uint64_t value, int bytes) {
  for (int shift = (bytes - 1) * 8; shift >= 0; shift -= 8) {
    bytes_[size_++] = static_cast<unsigned char>(value >> shift);
  }
}

}  // namespace igloo::guest
