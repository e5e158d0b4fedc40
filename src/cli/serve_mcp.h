#pragma once

#include <optional>

#include "cli/args.h"
#include "config/config.h"

namespace igloo::cli {

/// What --tools says, if it is there.
Result<std::optional<config::Tools>> ToolsFlag(const ParsedArgs& args);

/// `igloo mcp` without a word: the server itself.
Result<int> ServeMcp(const ParsedArgs& args, Console& console);

}  // namespace igloo::cli
