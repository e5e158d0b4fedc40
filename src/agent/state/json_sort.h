#pragma once

#include "agent/state/guarded.h"

namespace igloo::agent {

/// SortChanges for JSON: key by key. Fails if a text is not JSON or not an object.
Result<SortedChanges> SortJson(const FileRule& rule, const std::optional<std::string>& before,
                               const std::optional<std::string>& after);

}  // namespace igloo::agent
