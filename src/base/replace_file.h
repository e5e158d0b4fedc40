#pragma once

#include <string>
#include <string_view>

#include "base/error.h"

namespace igloo {

/// Puts `bytes` at `path` all at once, readable by the owner alone (0600): whoever reads it sees
/// the old content or the new, also after a crash. The directory must exist.
Result<void> ReplaceFile(const std::string& path, std::string_view bytes);

}  // namespace igloo
