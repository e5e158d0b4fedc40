#pragma once

#include <stddef.h>
#include <stdint.h>

#include "wire/message.h"

namespace igloo::guest {

// The channel to igloo, kControlFd.

/// Reads one frame; its size, or 0 when igloo is gone or speaks another language. `descriptor`: one
/// that came with it, the caller's to close, or -1.
uint32_t ReadFrame(unsigned char* to, uint32_t most, int& descriptor);

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
  void Send();

 private:
  void Integer(uint64_t value, int bytes);
  unsigned char bytes_[128];
  size_t size_ = wire::kHeaderSize;
};

}  // namespace igloo::guest
