#pragma once

#include <string>
#include <string_view>

#include "base/error.h"
#include "bench/process.h"
#include "bench/stopwatch.h"

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
  double micros() const { return since_start_.micros(); }

 private:
  explicit McpClient(Process process, Stopwatch since_start)
      : process_(std::move(process)), since_start_(since_start) {}

  Process process_;
  Stopwatch since_start_;
  std::string heard_ = {};
};

}  // namespace igloo::bench
