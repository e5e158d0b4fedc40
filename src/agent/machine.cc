#include "agent/machine.h"

#include <unistd.h>

#include <algorithm>

namespace igloo::agent {

std::uint64_t UsualMemory() {
  const auto pages = static_cast<std::uint64_t>(std::max(0L, ::sysconf(_SC_PHYS_PAGES)));
  const auto page = static_cast<std::uint64_t>(std::max(0L, ::sysconf(_SC_PAGESIZE)));
  constexpr std::uint64_t kMegabyte = 1U << 20;
  return pages * page / 4 * 3 / kMegabyte * kMegabyte;
}

std::uint64_t UsualProcesses() {
  const auto processors = static_cast<std::uint64_t>(std::max(1L, ::sysconf(_SC_NPROCESSORS_ONLN)));
  return std::clamp<std::uint64_t>(512 * processors, 1024, 8192);
}

}  // namespace igloo::agent
