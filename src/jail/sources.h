#pragma once

#include "jail/sandbox.h"

namespace igloo::jail {

/// Started by root, the files of a project's owner become those of `host_id`.
struct SourceOwner {
  bool map;
  int proc_fd;
  uint32_t host_id;
};

/// Whether `fd` is what the planner saw: device, inode, type.
bool IsSameFile(int fd, const ops::Op& op);

/// Opens the host tree of every kBind, kOverlay and kBase of a list as a detached mount with its
/// final attributes, and the file of every kCopy, appending to `fds` (room for kMaxSources).
/// Compares each with what the planner saw.
bool OpenSources(const List& list, uint32_t first_index, const SourceOwner& owner, int* fds,
                 unsigned& count, Failure& failure);

}  // namespace igloo::jail
