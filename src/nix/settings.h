#pragma once

#include <functional>
#include <string>
#include <vector>

namespace igloo::nix {

/// The Nix of this machine, and where igloo keeps what it makes with it.
struct Settings {
  std::string program = {};  ///< `nix` by its absolute path; empty: there is none
  /// A store somewhere else than at /nix/store: the directory above its "nix/store". Empty: the
  /// one that Nix uses by itself.
  std::string store = {};
  /// The package set for flakes that bring none.
  std::string nixpkgs = "nixpkgs";
  std::string home = {};  ///< one directory below it for every environment that Nix made
  /// The caller's variables that Nix may see, as "NAME=value".
  std::vector<std::string> variables = {};
};

/// Looks a variable up; empty when it is not set.
using Variable = std::function<std::string(const char* name)>;

/// Nix by its absolute path: the first in PATH, else where installers put it. Empty: nowhere.
/// Looks at files, starts nothing.
std::string FindNix(const Variable& variable);

/// What Nix needs of the caller's environment: where caches, settings, certificates and proxies
/// are. Nothing else gets to it.
std::vector<std::string> VariablesForNix(const Variable& variable);

}  // namespace igloo::nix
