#pragma once

#include <chrono>
#include <cstddef>
#include <optional>

#include "mcp/types.h"

namespace igloo::mcp {

/// The numbers of a server.
struct ServerOptions {
  std::chrono::milliseconds progress_interval{250};
  std::size_t page_size = 200;
  /// Calls that run at once, and the bytes of their requests: more is refused, not queued, so that
  /// cancellations are always heard.
  std::size_t most_calls = 256;
  std::size_t most_call_bytes = 64U << 20;
  /// An answer above this is replaced by an error: widespread clients hang up at 10 MiB.
  std::size_t longest_answer = 8U << 20;
  /// The answers that wait to be fetched by clients, all together. Above half of it no call
  /// begins; an answer that does not fit any more is replaced by an error.
  std::size_t most_answer_bytes = 64U << 20;
  /// How long a call may take before it becomes a task, and how long a task is kept.
  std::chrono::milliseconds task_grace{10'000};
  std::chrono::milliseconds task_ttl{3'600'000};
  std::chrono::milliseconds task_poll{1'000};
  std::size_t most_tasks = 256;
  /// What clients of the legacy era hear of Call::Log before they have said what they want.
  std::optional<LogLevel> legacy_log_level = {};
};

}  // namespace igloo::mcp
