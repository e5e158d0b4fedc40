#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "base/error.h"
#include "service/finished.h"

namespace igloo::service {

/// What is remembered of one call: who asked, for what, and how it came out.
struct Trace {
  std::chrono::system_clock::time_point came = {};
  std::string tool = {}, client = {};
  std::string environment = {}, session = {};
  std::string code = {};
  std::string verdict = "refused";  ///< a run's verdict; "refused" when there was none, or "failed"
  std::string error = {};           ///< why there was none
  std::optional<int> exit_code = {};
  std::int64_t queued_micros = 0, run_micros = 0;
  std::uint64_t cpu_micros = 0, peak_kib = 0, output_bytes = 0;

  /// How a run came out, or why there was none.
  void Take(const Result<Finished>& finished);
};

/// A call in a line: what the journal has, without a word of its code.
std::string CallLine(const Trace& trace);

}  // namespace igloo::service
