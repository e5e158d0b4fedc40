#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace igloo::nix {

/// A flake and what of it: "nixpkgs#ripgrep", "github:owner/repo", "/home/me/tools#a.b".
struct Reference {
  std::string flake = {};                   ///< before the '#'; a path is absolute
  std::vector<std::string> attribute = {};  ///< behind it, in its parts; empty: the default
  bool operator==(const Reference&) const = default;
};

/// Reads a reference. `directory` is what a relative path is relative to. Fails when it has not the
/// form of one, so that nothing else than a reference gets to Nix. Pure.
Result<Reference> ParseReference(std::string_view text, const std::string& directory);

/// The reference in one line, as people write it.
std::string ToText(const Reference& reference);

/// A name for the environment that is made of it: the attribute's last part, else the flake's.
/// Always one that an environment can have. Pure.
std::string NameFor(const Reference& reference);

/// A string of the Nix language with exactly these bytes.
std::string NixString(std::string_view text);

}  // namespace igloo::nix
