#pragma once

#include <string_view>

#include "base/error.h"
#include "cli/console.h"
#include "config/config.h"

namespace igloo::cli {

/// Has Nix make the environment of this name, if Nix makes it and it is not there yet; on a
/// terminal with Nix's last words as progress. Any other name is fine.
Result<void> BuildForUse(const config::Config& config, std::string_view name, Console& console);

}  // namespace igloo::cli
