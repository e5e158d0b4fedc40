#pragma once

#include <string>
#include <string_view>

#include "base/error.h"
#include "nix/settings.h"

namespace igloo::nix {

/// Where what Nix calls "/nix/store/..." lies on this machine: what stands before that path. The
/// first of the configured store, the machine's own, the one that Nix makes in the home directory
/// of users who cannot write to /nix, and the one that Nix's own settings name.
Result<std::string> StorePrefixOf(const Settings& settings, const std::string& store_path);

/// The directory that the setting `store` of Nix names, in what `nix show-config --json` says;
/// empty when that is none. Pure.
std::string StoreInSettings(std::string_view json);

}  // namespace igloo::nix
