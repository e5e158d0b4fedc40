#pragma once

#include <string>

#include "mcp/types.h"
#include "tools/clip.h"
#include "tools/contract.h"

namespace igloo::tools {

/// What a result needs to know beside the run itself.
struct Presentation {
  std::string environment = {};
  std::size_t room = 10'000;  ///< bytes of output that stand in the result
  Sequences sequences = Sequences::kRemove;
};

/// A run as igloo tells it: the text and the structured half each say everything. What is not
/// shown whole goes into the store and is named. Whatever the run did, it fits into an answer.
mcp::ToolResult RenderRun(service::Finished finished, const Presentation& how,
                          service::OutputStore& store);

/// How a run ended, and what can be done about it, in words: "exit code 3", "killed: it used more
/// than its 512 MB of memory; work on less at a time".
std::string HowItEnded(const service::Finished& finished);
/// Whether something else than its own code decided how a run ended: a limit, a signal, somebody.
bool EndedFromOutside(session::Verdict verdict);

/// Why there was no run; the structured half says it too, because some clients show nothing else.
mcp::ToolResult RenderFailure(const Error& error, const std::string& environment);

/// That something was done which is no run.
mcp::ToolResult RenderWord(std::string text, const std::string& environment);

/// The schema of the structured half of all of them.
mcp::JsonObject OutputSchema();

}  // namespace igloo::tools
