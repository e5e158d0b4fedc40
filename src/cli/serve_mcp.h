#pragma once

#include "cli/args.h"

namespace igloo::cli {

/// `igloo mcp` without a word: the server itself.
Result<int> ServeMcp(const ParsedArgs& args, Console& console);

}  // namespace igloo::cli
