#pragma once

#include <string_view>

#include "base/error.h"
#include "environment/registry.h"

namespace igloo::cli {

/// Everything this machine offers: the host's programs and the user's artifacts.
environment::Registry ReadEnvironments();

/// The environment with this name or alias; looks at no more of the host than it needs.
Result<environment::Environment> FindEnvironment(std::string_view name);

}  // namespace igloo::cli
