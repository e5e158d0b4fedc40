#pragma once

#include <stdint.h>

namespace igloo::guest {

/// What all processes but init use of memory: private pages and shared ones, in bytes. A page that
/// several processes share counts once for each, so `processes` says how sure the sum is.
struct MemoryUse {
  uint64_t bytes;
  unsigned processes;
};

/// Reads /proc, open as `proc_fd`. First by a cheap upper bound: when that is below `interesting`,
/// it is the answer.
MemoryUse ReadMemoryUse(int proc_fd, uint64_t interesting);

/// Threads of all processes but init: what the kernel's limit on processes counts.
uint64_t CountTasks(int proc_fd);

/// Sends a signal to every process but init, one by one: of a signal to all at once a child that is
/// being forked may get the stop and not what continues it.
void SignalEach(int proc_fd, int signal);

}  // namespace igloo::guest
