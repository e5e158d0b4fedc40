#pragma once

#include <map>
#include <string>

#include "nix/project_files.h"
#include "nix/reference.h"
#include "nix/settings.h"

namespace igloo::nix {

/// What of a flake becomes the environment.
enum class Kind {
  kPackage,  ///< a package, or an artifact of mkSandbox
  kShell,    ///< the programs of its development shell
};

/// An environment that Nix is to make.
struct Wanted {
  std::string key = {};  ///< the name of its directory; KeyFor makes it
  std::string name = {};
  Reference reference = {};
  Kind kind = Kind::kPackage;
  /// The project that asks for it, by its absolute path; empty: the user does.
  std::string project = {};
  /// Of a project's own flake: the files that the user trusts, and their digest. Nix gets a copy of
  /// them and nothing else of the project.
  ProjectFiles files = {};
  std::string trusted = {};
};

/// Where an environment lies below Settings::home. What two projects call by one name is two.
std::string KeyFor(const std::string& name, const std::string& project);

/// Whether the flake gets igloo's own input `nixpkgs`, because its own has none.
enum class Packages { kOfFlake, kOwn };

/// The files of the flake that igloo writes around what is wanted, by their names. Pure.
std::map<std::string, std::string> FlakeFiles(const Wanted& wanted, const Settings& settings,
                                              Packages packages);

/// Of everything that decides what is built, but for the lock. Pure.
std::string DigestOf(const Wanted& wanted, const Settings& settings);

/// Where the copy of a project's files lies for Nix.
std::string SourceDirectory(const Wanted& wanted, const Settings& settings);

/// "x86_64-linux".
std::string System();

/// A path as it stands in an address: path:/a%20b.
std::string PathAddress(std::string_view path);

}  // namespace igloo::nix
