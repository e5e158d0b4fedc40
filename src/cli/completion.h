#pragma once

#include <span>
#include <string>

#include "cli/args.h"

namespace igloo::cli {

// Scripts that complete igloo's command line in a shell, made from the command table. Names of
// environments are asked for when they are needed: they change while a script stays.
std::string BashCompletion(std::span<const Command* const> commands);
std::string ZshCompletion(std::span<const Command* const> commands);
std::string FishCompletion(std::span<const Command* const> commands);

/// The manual page igloo(1) in roff, from the same table.
std::string Manual(std::span<const Command* const> commands, std::string_view version);

}  // namespace igloo::cli
