#pragma once

#include <string>

#include "base/error.h"

namespace igloo::mcp {

/// The token in the file `path`, which is made with a new one when there is none. Of several that
/// make it at the same moment all get the same. Fails when anybody but this user could read it or
/// put another in its place, and never follows a link. The directory must exist.
Result<std::string> ReadOrMakeToken(const std::string& path);

}  // namespace igloo::mcp
