#pragma once

#include "backend/jail/launcher.h"
#include "base/error.h"

namespace igloo::cli {

/// igloo's helper programs: beside igloo itself in a build tree, in libexec once installed.
Result<backend::jail::Programs> FindPrograms();

}  // namespace igloo::cli
