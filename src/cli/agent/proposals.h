#pragma once

#include "base/error.h"
#include "cli/args.h"
#include "cli/console.h"

namespace igloo::cli {

/// `igloo agent proposals [show|confirm|drop ID]`: changes that boxes made to settings, and that
/// the user's own agent would run or trust.
Result<int> Proposals(const ParsedArgs& args, Console& console);

}  // namespace igloo::cli
