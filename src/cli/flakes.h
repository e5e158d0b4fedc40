#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "config/config.h"
#include "config/trust.h"
#include "environment/artifact.h"
#include "nix/home.h"
#include "nix/settings.h"
#include "nix/wanted.h"

namespace igloo::cli {

class Console;

/// Nix as the configuration and this machine have it. Without a place for state there is none.
Result<nix::Settings> NixSettings(const config::Config& config);

/// Where Nix's environments are kept; empty: nowhere.
std::string NixHome();

/// An environment that Nix makes, and who asks for it.
struct Flake {
  enum class From { kFile, kAdded, kVariable };
  std::string name = {};
  From from = From::kFile;
  Result<nix::Wanted> wanted = {};  ///< or why Nix is not even asked
};

/// All of them: the file's, those of 'igloo env add', and those of NIX_SANDBOX_ENVS. Of one name the
/// first of these counts.
std::vector<Flake> FlakesOf(const config::Config& config);

/// The one behind a name, through its aliases, if Nix makes it. Looks at no others.
std::optional<Flake> FindFlake(const config::Config& config, std::string_view name);

/// What was made of it, or why it cannot be used. Starts nothing.
Result<environment::Environment> ReadFlake(const config::Config& config, const Flake& flake);

/// Those that no file names, as artifacts: they take part like any that was found.
void AddFlakes(const config::Config& config, const std::vector<Flake>& flakes,
               environment::ArtifactScan& scan);

/// Has Nix make the environment of this name, if Nix makes it and it is not there yet; on a terminal
/// with Nix's last words as progress. Any other name is fine.
Result<void> BuildForUse(const config::Config& config, std::string_view name, Console& console);

/// A project's flake.nix and flake.lock, and whether the user trusts them as they are.
struct ProjectFlake {
  config::Trust trust = config::Trust::kNoFile;
  std::string directory = {};  ///< without links
  std::string digest = {};
  std::string entry = {};  ///< its name in the store of what is trusted
};
Result<ProjectFlake> ReadProjectFlake(const std::string& directory, config::TrustStore& store);

}  // namespace igloo::cli
