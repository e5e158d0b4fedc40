#pragma once

#include <string>

#include "mcp/types.h"
#include "tools/contract.h"

namespace igloo::tools {

/// What a result needs to know beside the run itself.
struct Presentation {
  std::string environment = {};
  std::size_t room = 10'000;  ///< bytes of output that stand in the result
};

/// A run as igloo tells it: the text and the structured half each say everything. What is not
/// shown whole goes into the store and is named. Whatever the run did, it fits into an answer.
mcp::ToolResult RenderRun(Finished finished, const Presentation& how, Store& store);

/// Why there was no run; the structured half says it too, because some clients show nothing else.
mcp::ToolResult RenderFailure(const Error& error, const std::string& environment);

/// That something was done which is no run.
mcp::ToolResult RenderWord(std::string text, const std::string& environment);

/// The schema of the structured half of all of them.
mcp::JsonObject OutputSchema();

}  // namespace igloo::tools
