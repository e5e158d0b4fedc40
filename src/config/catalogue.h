#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "config/config.h"
#include "environment/registry.h"

namespace igloo::config {

/// An environment as runs in it get it: what its provider made, and what the file says about it.
struct Configured {
  environment::Environment environment = {};
  const wall::Wall* backend = &wall::kDefault;
  /// What the file itself limits; the environment's own numbers have it in them already.
  Limits limits = {};
  /// What the file sets; they beat the environment's own.
  std::map<std::string, std::string> variables = {};
  /// Names of the caller's variables; the values are read when a run starts.
  std::vector<std::string> inherit = {};
  /// What its runs reach, and the secrets that belong to it, whose values nobody has read yet.
  network::Wanted network = {};
  bool names_network = false;  ///< the file says how far they reach, be it nowhere
  std::vector<SecretConfig> secrets = {};
  std::string resolver = {};           ///< of the proxy; empty: the host's
  std::string kernel = {};             ///< of virtual machines; empty: one of the host's
  environment::HideRules hidden = {};  ///< of the project, [project]'s and its own
  AuditConfig audit = {};              ///< where its decisions are written down
  /// How many interpreters wait ready, at most, and what they have loaded.
  std::uint64_t warm = kUsualWarm;
  std::vector<std::string> preload = {};
};

/// What this machine has for a configuration, gathered before anything is made of it.
struct Found {
  environment::Registry registry;
  /// By directory, of every [environments.NAME] with a path.
  std::map<std::string, Result<environment::Artifact>> artifacts = {};
  /// By name, of every [environments.NAME] with an image.
  std::map<std::string, Result<environment::Environment>> images = {};
  /// By name, of every one that Nix makes: what it is, or why it cannot be used.
  std::map<std::string, Result<environment::Environment>> flakes = {};
};

/// All environments by name. What the file names beats artifacts that were merely found, and those
/// beat presets. A reload makes a new one.
class Catalogue {
 public:
  /// `config` outlives it.
  Catalogue(const Config& config, Found found) : config_(config), found_(std::move(found)) {}

  /// By name or alias. Fails when there is none, and with the fix when it cannot be used. An
  /// outline has everything but what is inside, and looks at nothing.
  Result<Configured> Find(std::string_view name,
                          environment::Depth depth = environment::Depth::kWhole) const;
  /// Presets in their order, then the others by name.
  std::vector<environment::Listing> List() const;
  const std::vector<environment::ArtifactProblem>& problems() const {
    return found_.registry.problems();
  }

 private:
  std::string CanonicalOf(std::string_view name) const;
  Result<environment::Environment> Make(const EnvironmentConfig& own,
                                        environment::Depth depth) const;
  std::vector<std::string> AliasesOf(std::string_view name) const;
  environment::Listing ListingOf(const EnvironmentConfig& own) const;
  void ListAlias(const EnvironmentConfig& alias, std::vector<environment::Listing>& list) const;

  const Config& config_;
  Found found_;
};

}  // namespace igloo::config
