#pragma once

#include <string>
#include <string_view>

#include "bench/figures.h"
#include "bench/mcp_client.h"

namespace igloo::bench {

/// The code `print(1)` for igloo's tool `run`; `more` are further arguments: `"session":"s"`.
std::string PythonRequest(std::string_view more = "");

/// Calls a tool and waits for its answer, whatever else comes before: microseconds. Fails unless
/// the answer is fine and has `expected` in it.
Result<double> TimeCall(McpClient& client, const std::string& line, std::string_view expected);

/// One call that opens a session, in microseconds; then, not counted, it is closed.
Result<double> OpenSession(McpClient& client);

/// How even `calls` calls in fresh sandboxes are when the pool has time to be filled again.
Result<void> MeasureTail(const Command& server, unsigned calls, Figures& figures);

/// `count` sessions at once, each of which answers.
Result<void> MeasureSessions(const Command& server, unsigned count, Figures& figures);

}  // namespace igloo::bench
