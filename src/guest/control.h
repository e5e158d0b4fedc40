#pragma once

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "wire/message.h"

namespace igloo::guest {

// The channel to igloo, kControlFd.

/// Reads one frame; its size, or 0 when igloo is gone or speaks another language. `descriptor`: one
/// that came with it, the caller's to close, or -1.
uint32_t ReadFrame(unsigned char* to, uint32_t most, int& descriptor);

/// Reads as read(2) does from a socket, and takes a descriptor that comes along.
ssize_t Receive(int socket, void* to, size_t size, int& descriptor);
/// Sends a descriptor, and one byte with it.
bool SendDescriptor(int socket, int descriptor);

/// Writes one report; small enough for a single packet.
class ReportWriter {
 public:
  ReportWriter(wire::FromInit kind, const wire::Nonce& nonce) {
    U8(static_cast<uint8_t>(kind));
    U64(nonce.high);
    U64(nonce.low);
  }
  void U8(uint8_t value) { Integer(value, 1); }
  void U32(uint32_t value) { Integer(value, 4); }
  void U64(uint64_t value) { Integer(value, 8); }
  /// INVARIANT: together they are shorter than a report may be.
  void Text(const char* text);
  void Send();

 private:
  void Integer(uint64_t value, int bytes);
  unsigned char bytes_[wire::kMaxReport];
  size_t size_ = wire::kHeaderSize;
};

}  // namespace igloo::guest
