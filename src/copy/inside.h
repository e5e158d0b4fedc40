#pragma once

#include <sys/types.h>

#include "base/error.h"

namespace igloo::copy {

/// The number here of the process that has the number `inner` in the sandbox of that igloo-init.
/// Only descendants of igloo-init are looked at, whatever the caller was told.
Result<pid_t> FindInside(int init_pidfd, pid_t inner);
/// And the other way round; 0: it has none.
pid_t NumberInside(pid_t pid);

}  // namespace igloo::copy
