#pragma once

#include <stddef.h>
#include <stdint.h>

#include "wire/message.h"

namespace igloo::guest {

/// kStart as init sees it: texts are pointers into the frame, no copies.
struct StartView {
  wire::Nonce nonce;
  uint64_t time_limit_ms;
  uint64_t grace_ms;
  uint64_t memory_limit_bytes;
  wire::MemoryWatch memory;
  wire::SeccompProfile seccomp;

  static constexpr size_t kMaxLimits = wire::kMaxResourceLimits;
  struct Limit {
    uint32_t resource;
    uint64_t value;
  };
  const Limit* limits;
  uint32_t limit_count;

  static constexpr size_t kMaxPaths = wire::kMaxPathRules;
  struct Path {
    wire::PathRight right;
    const char* path;
  };
  const Path* paths;
  uint32_t path_count;

  const char* cwd;
  uint32_t extra_descriptors;
  wire::Terminal terminal;
  wire::Life life;
  wire::Birth birth;
  wire::SocketWatch sockets;
  wire::Watched watched;

  static constexpr size_t kMaxStrings = wire::kMaxStrings;
  const char* const* argv;  ///< closed by a null
  const char* const* env;

  /// Where these lie, one behind the other: as much as is used, which is mostly one page of memory.
  alignas(8) unsigned char room[kMaxLimits * sizeof(Limit) + kMaxPaths * sizeof(Path) +
                                2 * (kMaxStrings + 1) * sizeof(char*)];
};

/// False when the payload of the frame is not exactly one well-formed kStart.
bool DecodeStart(const void* payload, size_t size, StartView& view);

}  // namespace igloo::guest
