#pragma once

#include "cli/args.h"
#include "cli/console.h"

namespace igloo::cli {

/// The boxes that run.
Result<int> ListBoxes(const ParsedArgs& args, Console& console);
/// The agents that can be started: igloo's and the user's, and where their programs are.
Result<int> ListAgents(const ParsedArgs& args, Console& console);

}  // namespace igloo::cli
