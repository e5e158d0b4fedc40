#pragma once

#include "cli/args.h"
#include "cli/console.h"

namespace igloo::cli {

/// `igloo agent why [BOX]`: what the wall refused to a box, and what would allow it.
Result<int> Why(const ParsedArgs& args, Console& console);

}  // namespace igloo::cli
