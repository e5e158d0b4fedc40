#pragma once

#include <string>
#include <vector>

#include "sandbox/policy.h"

namespace igloo::environment {

/// Looks at host paths once, before planning; symbolic links are followed.
sandbox::HostFacts GatherFacts(const std::vector<std::string>& paths);

}  // namespace igloo::environment
