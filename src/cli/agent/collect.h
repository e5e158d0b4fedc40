#pragma once

#include "cli/args.h"
#include "cli/console.h"

namespace igloo::cli {

/// `igloo agent gc`: removes what boxes left that belongs to nothing any more, and says what.
Result<int> CollectLeftovers(const ParsedArgs& args, Console& console);

}  // namespace igloo::cli
