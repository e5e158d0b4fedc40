#pragma once

#include <string>

#include "cli/agent/launch.h"
#include "cli/personalities/claudebox_files.h"

namespace igloo::cli::claudebox {

/// What claudebox prints before it starts, from the plan: variables by where they come from, one
/// entry of PATH a line, secrets masked; mounts; what its files say.
std::string AuditText(const PreparedBox& prepared, const FromFiles& files, bool colours);

}  // namespace igloo::cli::claudebox
