#pragma once

#include <cstdint>
#include <ctime>

namespace igloo {

/// CLOCK_MONOTONIC in microseconds: the same clock in every process and namespace of the machine.
inline std::int64_t MonotonicMicros() {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<std::int64_t>(now.tv_sec) * 1'000'000 + now.tv_nsec / 1'000;
}

}  // namespace igloo
