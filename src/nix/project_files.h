#pragma once

#include <map>
#include <string>

#include "base/error.h"

namespace igloo::nix {

/// The files of a project that Nix gets to see, by their paths in it.
using ProjectFiles = std::map<std::string, std::string>;

/// flake.nix, flake.lock, every other *.nix beside them, and what is in the directory nix/. Nothing
/// when there is no flake.nix. Links are not followed and not taken, nor is anything but files.
Result<ProjectFiles> ReadProjectFiles(const std::string& directory);

/// The digest of all of them, names included. Pure.
std::string DigestOf(const ProjectFiles& files);

}  // namespace igloo::nix
