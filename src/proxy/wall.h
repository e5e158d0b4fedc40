#pragma once

#include "base/error.h"

namespace igloo::proxy {

/// Gives up everything that a proxy does not need: files, processes, other programs, privileges,
/// and every system call that is not on a list. There is no way back. What it still needs of files
/// is to be open or read before.
Result<void> RaiseWall();

}  // namespace igloo::proxy
