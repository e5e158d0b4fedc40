#pragma once

#include <stdint.h>

namespace igloo::guest {

/// Bytes in the buffers of all sockets of this process's network namespace, closed ones too. No
/// cgroup counts those of Unix sockets, and one of version 1 counts none.
///
/// `proc_fd` is /proc. First by a cheap upper bound: when that is below `interesting`, the answer
/// is 0.
uint64_t ReadSocketUse(int proc_fd, uint64_t interesting);

}  // namespace igloo::guest
