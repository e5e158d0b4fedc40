#pragma once

#include <string>

#include "base/error.h"

namespace igloo {

/// Removes a directory with all that is in it. SECURITY: hostile code made what is in it: no link
/// is followed, directories that are closed to everybody are opened first, and any depth is fine.
Result<void> RemoveTree(const std::string& path);

}  // namespace igloo
