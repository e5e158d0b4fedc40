#pragma once

#include "jail/sandbox.h"

namespace igloo::jail {

/// Opens the host tree of every kBind and kOverlay of a list as a detached mount with its final
/// attributes, appending to `fds`. Compares each with what the planner saw.
/// `proc_fd` is needed only when owners are mapped (by_root).
bool OpenSources(const void* list, uint32_t bytes, uint32_t first_index, bool by_root, int proc_fd,
                 uint32_t host_id, int* fds, unsigned& count, Failure& failure);

}  // namespace igloo::jail
