#pragma once

#include <array>

#include "cli/args.h"
#include "cli/console.h"

namespace igloo::cli {

/// `igloo doctor --prove`: attacks behind every wall, their controls, a report. 0: everything held
/// and was shown to hold something; 1: it was not.
Result<int> RunProve(const ParsedArgs& args, Console& console);

/// Options of it that have no meaning without --prove.
inline constexpr std::array kOnlyWithProve = {"--backend", "--report", "--sign"};

}  // namespace igloo::cli
