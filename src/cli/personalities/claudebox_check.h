#pragma once

#include "cli/console.h"

namespace igloo::cli::claudebox {

/// `claudebox --check`: a coloured line on standard error for each thing that it needs or uses, and
/// whether all that is needed is there: 0 or 1.
int RunChecks(Console& console);

}  // namespace igloo::cli::claudebox
