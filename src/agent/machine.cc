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

namespace {

std::uint64_t Processors() {
  return static_cast<std::uint64_t>(std::max(1L, ::sysconf(_SC_NPROCESSORS_ONLN)));
}

}  // namespace

std::uint64_t UsualMillicpus() { return std::max<std::uint64_t>(1000, 750 * Processors()); }

std::uint64_t UsualProcesses() { return std::clamp<std::uint64_t>(512 * Processors(), 1024, 8192); }

}  // namespace igloo::agent
