#pragma once

#include <string>

#include "base/error.h"
#include "cli/console.h"

namespace igloo::cli {

/// For launchers that show all of a project, as they always did: says which of its files look like
/// secrets, which `igloo agent` hides. Once for each set of them: what was said stands in igloo's
/// state. `project` is a real path.
Result<void> WarnOfShownSecrets(const std::string& project, Console& console);

}  // namespace igloo::cli
