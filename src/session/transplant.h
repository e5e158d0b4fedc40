#pragma once

#include <sys/types.h>

#include "base/error.h"

namespace igloo::session {

/// A process by the number that it has in the sandbox of that igloo-init.
struct Patient {
  int init_pidfd = -1;
  pid_t inner = 0;
};

/// Makes one process a copy of another: its memory, its registers, and a placeholder for each of
/// its open descriptors. Both were forked from the same zygote and wait for their next order, so
/// both have one and the same program at the same places. The copy keeps its own sandbox, wall and
/// descriptors: nothing of the original's goes along but bytes, and nothing is shared afterwards.
/// SECURITY: everything about both may be hostile by now; what it can spoil is the copy.
/// Blocks for as long as the bytes take; may be called
/// on any thread. A copy that failed half-way is good for nothing: end it.
Result<void> Transplant(const Patient& original, const Patient& copy);

}  // namespace igloo::session
