#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/error.h"

namespace igloo::audit {

/// To the millisecond; a journal is not for measuring.
using Time = std::chrono::sys_time<std::chrono::milliseconds>;

/// No line is longer, its newline included: one write() appends it as a whole.
inline constexpr std::size_t kMaxLine = 1U << 20;
/// As much of the code as a record keeps, when it is to keep any.
inline constexpr std::size_t kMaxCode = 128U << 10;

/// One call of a tool: who asked for what, and what came of it. All text is for people: whoever
/// called chose most of it, so it proves nothing about them.
struct Record {
  Time time = {};  ///< when the call came
  std::string tool = {};
  std::string client = {};  ///< its name and its version, with a space between
  std::string environment = {};
  std::string session = {};      ///< empty: none
  std::string code_sha256 = {};  ///< of all the code, whatever is kept of it
  std::uint64_t code_bytes = 0;
  std::optional<std::string> code = {};
  std::string verdict = {};  ///< in one word, how it ended
  std::optional<int> exit_code = {};
  std::uint64_t duration_ms = 0;  ///< of the run, without the time before it began
  std::uint64_t queued_ms = 0;
  std::optional<std::uint64_t> cpu_ms = {};
  std::optional<std::uint64_t> peak_memory_bytes = {};
  std::uint64_t output_bytes = 0;  ///< all that it wrote, kept or not
  std::string error = {};          ///< why there was no run, or no end of it

  /// Says what the code was: its digest, its size and the code itself, which a Journal drops unless
  /// it was told to keep it.
  void Describe(std::string_view program);
  bool operator==(const Record&) const = default;
};

/// The record as one line of JSON with its newline. Text is made printable and cut to a bound.
std::string Encode(const Record& record);

/// Reads such a line, with or without its newline. Fields that it does not know are fine, and so
/// are missing ones except the time.
Result<Record> Decode(std::string_view line);

/// "2026-11-15T11:13:50.123Z".
std::string Iso8601(Time time);

}  // namespace igloo::audit
