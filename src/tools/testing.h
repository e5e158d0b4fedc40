#pragma once

#include <string>
#include <string_view>

#include "mcp/types.h"
#include "service/runner.h"
#include "service/setup.h"

namespace igloo::tools::testing {

/// A run that printed this and ended well, in 1.23 seconds.
inline service::Finished Ended(std::string_view output, std::string_view error = {},
                               int exit_code = 0) {
  service::Finished finished{
      .looked_for_files = true, .time_limit_ms = 30'000, .memory_limit_bytes = 512U << 20};
  finished.run.verdict = exit_code == 0 ? session::Verdict::kOk : session::Verdict::kExit;
  finished.run.exit_code = exit_code;
  finished.run.output = session::CappedText(8U << 20, session::Keep::kFirstAndLast);
  finished.run.output.Append(output);
  finished.run.error = session::CappedText(8U << 20, session::Keep::kFirstAndLast);
  finished.run.error.Append(error);
  finished.run.usage.wall_micros = 1'230'000;
  return finished;
}

/// A picture as far as anybody looks; `inside` makes it as long as wanted.
inline std::string Png(std::string_view inside) {
  using namespace std::string_literals;
  return "\x89PNG\r\n\x1a\n\0\0\0\rIHDR"s + std::string(inside) + "\0\0\0\0IEND\xae\x42\x60\x82"s;
}

inline std::string TextOf(const mcp::ToolResult& result) {
  return std::get<mcp::content::Text>(result.content.at(0)).text;
}

}  // namespace igloo::tools::testing
