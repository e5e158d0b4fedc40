#pragma once

#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "config/catalogue.h"

namespace igloo::service {

/// Everything this machine and the configuration offer: the host's programs, the user's artifacts,
/// and what the file makes of them. `config` outlives it.
config::Catalogue ReadEnvironments(const config::Config& config);
/// The same with artifacts that somebody brings along; one that was found beats them.
config::Catalogue ReadEnvironmentsWith(const config::Config& config,
                                       const std::vector<environment::Artifact>& brought);

/// What a list of them shows, and nothing more: of hundreds of artifacts in a store only those are
/// read that were not there the last time.
struct Listed {
  std::vector<environment::Listing> environments = {};
  std::vector<environment::ArtifactProblem> problems = {};
};
Listed ListEnvironments(const config::Config& config);

/// Where artifacts are looked for, the place that counts most first: the file's, igloo's own place,
/// NIX_SANDBOX_DIR, the one that people have from nix-sandbox-mcp, what igloo was installed with.
std::vector<std::string> ArtifactPlaces(const config::Config& config);

/// What artifacts are read with: asks Nix for the closures of those that do not say, where there
/// is a Nix.
environment::Store NixStore(const config::Config& config);

/// What the artifact is, of store paths or of an image.
Result<environment::Environment> OpenAnyArtifact(const environment::Artifact& artifact,
                                                 const environment::ClosureOf& closure_of);

/// The images that artifacts and presets name, by image::ToText.
std::set<std::string> ImagesOfArtifacts(const config::Config& config);

/// Makes the artifact in `directory` the only environment of a configuration, with the settings
/// that this has for its name. Its name.
Result<std::string> UseArtifact(const std::string& directory, config::Config& config);

/// Only what the file itself names, and nothing that would have to be looked for.
config::Catalogue ReadNamed(const config::Config& config);

/// The environment with this name or alias; looks at no more of the host than it needs. An image
/// that lies on this machine is unpacked with its first use.
Result<config::Configured> ReadEnvironment(const config::Config& config, std::string_view name);

}  // namespace igloo::service
