#pragma once

#include <string>
#include <vector>

#include "base/error.h"
#include "nix/settings.h"

namespace igloo::nix {

/// All store paths that a path in the store needs to run, itself among them, by asking Nix. For
/// artifacts that do not list them.
Result<std::vector<std::string>> Closure(const Settings& settings, const std::string& store_path);

}  // namespace igloo::nix
