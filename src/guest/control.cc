#include "guest/control.h"

#include <sys/socket.h>

#include "guest/payload.h"
#include "kernel/calls.h"

namespace igloo::guest {

namespace {

/// A message of one part, with room for one descriptor.
struct Packet {
  Packet(void* bytes, size_t size) : part{bytes, size} {
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    message.msg_control = space;
    message.msg_controllen = sizeof space;
  }
  alignas(cmsghdr) unsigned char space[CMSG_SPACE(sizeof(int))] = {};
  iovec part;
  msghdr message = {};
};

}  // namespace

ssize_t Receive(int socket, void* to, size_t size, int& descriptor) {
  Packet packet(to, size);
  msghdr& message = packet.message;
  const ssize_t count = recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
  const cmsghdr* came = count > 0 ? CMSG_FIRSTHDR(&message) : nullptr;
  if (came != nullptr && came->cmsg_type == SCM_RIGHTS) {
    memcpy(&descriptor, CMSG_DATA(came), sizeof descriptor);
  }
  return count;
}

bool SendDescriptor(int socket, int descriptor) {
  char byte = 0;
  Packet packet(&byte, sizeof byte);
  cmsghdr* const header = CMSG_FIRSTHDR(&packet.message);
  header->cmsg_level = SOL_SOCKET;
  header->cmsg_type = SCM_RIGHTS;
  header->cmsg_len = CMSG_LEN(sizeof descriptor);
  memcpy(CMSG_DATA(header), &descriptor, sizeof descriptor);
  return sendmsg(socket, &packet.message, MSG_NOSIGNAL) == 1;
}

uint32_t ReadFrame(unsigned char* to, uint32_t most, int& descriptor) {
  descriptor = -1;
  unsigned char header[wire::kHeaderSize];
  const bool read = kernel::MoveAll(sizeof header, [&](size_t done, size_t left) {
    return Receive(kControlFd, header + done, left, descriptor);
  });
  if (!read) return 0;
  const uint32_t size = wire::DecodeLength(header);
  const bool fits = size > 0 && size <= most;
  return fits && kernel::ReadAll(kControlFd, to, size) ? size : 0;
}

void ReportWriter::Text(const char* text) {
  const size_t size = strlen(text);
  U32(static_cast<uint32_t>(size));
  memcpy(bytes_ + size_, text, size + 1);
  size_ += size + 1;
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
