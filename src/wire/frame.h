#pragma once

// Messages between igloo and igloo-init: a length of four bytes, big end first, then the payload.
// Freestanding: init reads them in place. Both sides treat the other as hostile.

#include <stddef.h>
#include <stdint.h>

namespace igloo::wire {

inline constexpr uint32_t kMaxFrame = 16u << 20;
inline constexpr uint32_t kHeaderSize = 4;

constexpr uint32_t DecodeLength(const unsigned char* header) {
  return static_cast<uint32_t>(header[0]) << 24 | static_cast<uint32_t>(header[1]) << 16 |
         static_cast<uint32_t>(header[2]) << 8 | static_cast<uint32_t>(header[3]);
}

constexpr void EncodeLength(uint32_t length, unsigned char* header) {
  header[0] = static_cast<unsigned char>(length >> 24);
  header[1] = static_cast<unsigned char>(length >> 16);
  header[2] = static_cast<unsigned char>(length >> 8);
  header[3] = static_cast<unsigned char>(length);
}

/// Reads fields from a payload. After the first field that does not fit, every later one is empty
/// and ok() is false, so a decoder checks once at its end.
class Fields {
 public:
  Fields(const void* bytes, size_t size)
      : at_(static_cast<const unsigned char*>(bytes)), left_(size) {}

  uint8_t U8() { return static_cast<uint8_t>(Integer(1)); }
  uint32_t U32() { return static_cast<uint32_t>(Integer(4)); }
  uint64_t U64() { return Integer(8); }

  /// A string that is closed by a NUL in place and holds none: usable as a C string.
  const char* Text() {
    const uint32_t size = U32();
    if (!ok_ || left_ < static_cast<size_t>(size) + 1 || at_[size] != '\0') return Bad();
    const char* text = reinterpret_cast<const char*>(at_);
    for (uint32_t i = 0; i < size; ++i) {
      if (text[i] == '\0') return Bad();
    }
    at_ += size + 1;
    left_ -= size + 1;
    return text;
  }

  bool ok() const { return ok_; }
  bool AtEnd() const { return ok_ && left_ == 0; }
  size_t left() const { return left_; }

 private:
  const char* Bad() {
    ok_ = false;
    left_ = 0;
    return "";
  }
  uint64_t Integer(size_t bytes) {
    if (!ok_ || left_ < bytes) {
      Bad();
      return 0;
    }
    uint64_t value = 0;
    for (size_t i = 0; i < bytes; ++i) value = value << 8 | at_[i];
    at_ += bytes;
    left_ -= bytes;
    return value;
  }

  const unsigned char* at_;
  size_t left_;
  bool ok_ = true;
};

}  // namespace igloo::wire
