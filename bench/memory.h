#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/error.h"
#include "bench/figures.h"
#include "bench/launcher_runs.h"
#include "bench/peers.h"

namespace igloo::bench {

/// What one idle sandbox costs: `cat` waits for input in it. KiB, a share of several at once.
struct Idle {
  std::string key = {}, name = {};
  double processes = 0;            ///< with those outside that belong to it
  std::optional<double> pss = {};  ///< nothing when a process could not be looked at
  double kernel = 0;               ///< what the kernel's own memory grew by; an estimate
  std::string failure = {};
};

/// Starts `count` of each at once, looks, and ends them.
std::vector<Idle> MeasureIdle(Ground& ground, const backend::Programs& programs, unsigned count);

/// The same of interpreters that wait ready for code, a row for each language, and one for the
/// process that they are forked from.
std::vector<Idle> MeasureReadyIdle(const backend::Programs& programs, unsigned count);
/// What of these rows has a bar.
void JudgeReadyIdle(const std::vector<Idle>& rows, Figures& figures);

/// The kernel's own memory that sandboxes change, in KiB, of /proc/meminfo's text.
double KernelMemory(const std::string& meminfo);
/// The value of a line "Key:   123 kB", or nothing.
std::optional<double> KilobytesOf(const std::string& text, const std::string& key);

}  // namespace igloo::bench
