#pragma once

#include <vector>

#include "base/error.h"
#include "service/changes/journal.h"
#include "service/changes/tree.h"

namespace igloo::service::changes {

/// Copies an open file's bytes into an empty one. What was never written stays so: a sparse file of
/// a terabyte takes no room.
Result<void> CopyBytes(int from, int to);

/// Fails if the project's disk has less room than what these operations write.
Result<void> CheckRoom(const Tree& project, const Tree& upper,
                       const std::vector<Operation>& operations);

}  // namespace igloo::service::changes
