#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sandbox/policy.h"

namespace igloo::environment {

/// Looks at host paths once, before planning; symbolic links are followed.
sandbox::HostFacts GatherFacts(const std::vector<std::string>& paths);

/// A mount point of the host that lies below `directory` (a real path), or nothing. A view of the
/// directory would show an empty place there.
std::optional<std::string> MountBelow(const std::string& directory);

}  // namespace igloo::environment
