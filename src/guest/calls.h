#pragma once

#include <stddef.h>
#include <stdint.h>

namespace igloo::guest {

/// System calls for another process to make, as igloo-init sends them to an interpreter that it
/// adopts: this head, the offsets of `relocations` addresses, then `size` bytes. The first of these
/// are the calls, behind them lies what their arguments point to. Addresses are offsets from the
/// first of these bytes until the process has added its own.
struct CallsHead {
  uint32_t count;
  uint32_t relocations;
  uint32_t size;
};

/// The number, six arguments.
inline constexpr unsigned kCallWords = 7;
inline constexpr unsigned kMaxCalls = 128, kMaxRelocations = 64;
inline constexpr size_t kMaxCallBytes = size_t{kMaxCalls} * kCallWords * 8 + 16384;

}  // namespace igloo::guest
