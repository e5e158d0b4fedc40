#pragma once

#include <string>
#include <vector>

#include "base/error.h"

namespace igloo::cli {

/// What becomes of a sandbox that is there already.
enum class Existing { kSkip, kOverwrite };

struct Pulled {
  std::vector<std::string> written = {}, skipped = {};  ///< ids
};

/// Writes the sandboxes that igloo brings along to directories below `place`, for people to change.
/// One that is skipped is not touched at all; of one that is overwritten only the config.json is.
Result<Pulled> PullSandboxes(const std::string& place, Existing existing);

}  // namespace igloo::cli
