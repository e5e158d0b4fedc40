#pragma once

#include <string>
#include <string_view>

#include "base/error.h"
#include "bench/process.h"

namespace igloo::bench {

/// A request of 2026-07-28 as one line without its end; `more` are further members of its
/// parameters: `"name":"run"`.
std::string McpRequest(std::string_view id, std::string_view method, std::string_view more = "");

/// A server under way, spoken to over its standard input and output, a line at a time.
class McpClient {
 public:
  static Result<McpClient> Start(const Command& command);

  Result<void> Send(std::string_view line);
  /// The next line without its end. Fails when the server ends or is silent for long, and says
  /// then what it wrote to standard error.
  Result<std::string> Hear();
  /// Sends a line and waits for one.
  Result<std::string> Ask(std::string_view line);

  pid_t pid() const { return process_.pid(); }
  /// Since before it was started.
  double micros() const;

 private:
  explicit McpClient(Process process, std::int64_t begin)
      : process_(std::move(process)), begin_(begin) {}

  Process process_;
  std::int64_t begin_;  ///< CLOCK_MONOTONIC µs
  std::string heard_ = {};
};

}  // namespace igloo::bench
