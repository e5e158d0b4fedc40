#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "config/catalogue.h"

namespace igloo::cli {

/// Everything this machine and the configuration offer: the host's programs, the user's artifacts,
/// and what the file makes of them. `config` outlives it.
config::Catalogue ReadEnvironments(const config::Config& config);

/// Where artifacts are looked for: the file's first, then igloo's own place and the one that people
/// have from nix-sandbox-mcp.
std::vector<std::string> ArtifactPlaces(const config::Config& config);

/// The environment with this name or alias; looks at no more of the host than it needs. An image
/// that lies on this machine is unpacked with its first use.
Result<config::Configured> ReadEnvironment(const config::Config& config, std::string_view name);

}  // namespace igloo::cli
