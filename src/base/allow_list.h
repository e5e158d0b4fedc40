#pragma once

// A system call filter for a program of igloo's own that reads what hostile code wrote: everything
// that is not on a list is denied (EPERM).

#include <linux/filter.h>

#include <cstdint>
#include <initializer_list>
#include <span>
#include <vector>

#include "base/error.h"

namespace igloo {

class AllowList {
 public:
  AllowList();

  void Allow(std::span<const std::uint32_t> calls);
  /// A call whose argument must be one of these. The kernel takes 32 bits of it.
  void AllowIf(std::uint32_t call, unsigned argument, std::initializer_list<std::uint32_t> values);
  /// mmap and mprotect, but for memory that is code.
  void AllowMemory();
  /// One that says that this kernel does not have it: libraries then do without.
  void Pretend(std::uint32_t call);

  /// From here on, for this process and everything that it starts. No way back.
  Result<void> Install() &&;

 private:
  std::vector<sock_filter> code_ = {};
};

/// Gives up every capability but those in `kept` (by number of their bit), and new privileges for
/// ever.
Result<void> KeepCapabilities(std::uint64_t kept);

}  // namespace igloo
