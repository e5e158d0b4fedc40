#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/error.h"

namespace igloo::bench {

/// One program from before its start to the end of its output and its exit status.
struct ProcessRun {
  std::int64_t begin = 0, end = 0;  ///< CLOCK_MONOTONIC µs
  std::string errors = {};          ///< what it wrote to standard error, when that was asked for

  double micros() const { return static_cast<double>(end - begin); }
};

enum class Errors { kDropped, kKept };

/// fork and exec: this is T when the program is /bin/true.
Result<ProcessRun> RunForked(const std::vector<std::string>& argv);
/// posix_spawn, as any good caller would start a program. Fails unless it exits with 0.
Result<ProcessRun> RunSpawned(const std::vector<std::string>& argv,
                              Errors errors = Errors::kDropped);

}  // namespace igloo::bench
