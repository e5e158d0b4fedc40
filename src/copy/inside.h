#pragma once

#include <sys/types.h>

#include "base/error.h"

namespace igloo::copy {

/// The number here of the process that has the number `inner` in the sandbox of that igloo-init.
/// Only descendants of igloo-init are looked at, whatever the caller was told.
Result<pid_t> FindInside(int init_pidfd, pid_t inner);
/// Whether that igloo-init and this process are all that is in a sandbox. One that forks and ends
/// as fast as it can may be overlooked.
bool IsAlone(int init_pidfd, pid_t pid);
/// FindInside the other way round; 0: it has none.
pid_t NumberInside(pid_t pid);

}  // namespace igloo::copy
