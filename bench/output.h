#pragma once

#include <cstdint>

#include "base/error.h"
#include "bench/process.h"

namespace igloo::bench {

inline constexpr std::uint64_t kOutputBytes = 1'000'000'000;

/// A program that writes a gigabyte, and nothing else.
inline Words OutputWords() {
  return {"/usr/bin/head", "-c", std::to_string(kOutputBytes), "/dev/zero"};
}

struct OutputRun {
  double micros = 0;
  double peak_kib = 0;  ///< the most memory that the started program itself ever had
};

/// Runs a command that writes kOutputBytes, and throws them away. Fails when there are fewer.
Result<OutputRun> RunOutput(const Command& command);

}  // namespace igloo::bench
