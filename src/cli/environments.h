#pragma once

#include <string_view>

#include "base/error.h"
#include "config/catalogue.h"

namespace igloo::cli {

/// Everything this machine and the configuration offer: the host's programs, the user's artifacts,
/// and what the file makes of them. `config` outlives it.
config::Catalogue ReadEnvironments(const config::Config& config);

/// The environment with this name or alias; looks at no more of the host than it needs.
Result<config::Configured> ReadEnvironment(const config::Config& config, std::string_view name);

}  // namespace igloo::cli
