#pragma once

#include "cli/agent/launch.h"

namespace igloo::cli {

/// Says, a line each, what a box needs and whether it is there: 0, or 1 when something is missing
/// without which it cannot start. Starts a sandbox of its own, and nothing of the user's but git.
Result<int> CheckBox(const ParsedArgs& args, const LaunchRequest& request, Console& console);

}  // namespace igloo::cli
