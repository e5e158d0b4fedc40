#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "config/config.h"
#include "config/trust.h"
#include "environment/environment.h"
#include "nix/home.h"
#include "nix/settings.h"
#include "nix/wanted.h"

namespace igloo::service {

/// Nix as the configuration and this machine have it. Without a place for state there is none.
Result<nix::Settings> NixSettings(const config::Config& config);

/// Where Nix's environments are kept; empty: nowhere.
std::string NixHome();

/// The configuration with what 'igloo env add' added and NIX_SANDBOX_ENVS names; what the file says
/// counts before them. They have no file.
void AddFlakes(config::Config& config);

/// An environment that Nix makes.
struct Flake {
  std::string name = {};
  Result<nix::Wanted> wanted = {};  ///< or why Nix is not even asked
};

/// All of them.
std::vector<Flake> FlakesOf(const config::Config& config);

/// The one behind a name, through its aliases, if Nix makes it.
std::optional<Flake> FindFlake(const config::Config& config, std::string_view name);

/// What was made of it, or why it cannot be used. Starts nothing.
Result<environment::Environment> ReadFlake(const config::Config& config, const Flake& flake);

/// What a project's flake is made of, and whether the user trusts it as it is.
struct ProjectFlake {
  config::Trust trust = config::Trust::kNoFile;
  std::string directory = {};  ///< without links
  nix::ProjectFiles files = {};
  std::string digest = {};
  std::string entry = {};  ///< its name in the store of what is trusted
};
Result<ProjectFlake> ReadProjectFlake(const std::string& directory, config::TrustStore& store);

}  // namespace igloo::service
