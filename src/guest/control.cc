#include "guest/control.h"

#include <errno.h>
#include <sys/socket.h>
#include <unistd.h>

#include "guest/init.h"
#include "guest/payload.h"

namespace igloo::guest {
namespace {

bool ReadExactly(void* to, size_t size) {
  auto* at = static_cast<unsigned char*>(to);
  while (size > 0) {
    const ssize_t count = read(kControlFd, at, size);
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
