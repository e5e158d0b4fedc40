#pragma once

#include "jail/sandbox.h"

namespace igloo::jail {

/// Started by root, the files of a project's owner become those of `host_id`.
struct SourceOwner {
  bool map;
  int proc_fd;
  uint32_t host_id;
};

/// Whether `fd` is what the planner saw: device, inode, type. ESTALE when it is not.
bool IsSameFile(int fd, const ops::Op& op);

/// Opens the host tree of every kBind, kOverlay and kBase of a list as a detached mount with its
/// final attributes, and the file of every kCopy. Compares each with what the planner saw.
/// `index` is that of the list's first operation, and afterwards of the one behind its last.
bool OpenSources(const List& list, uint32_t& index, const SourceOwner& owner, Sources& sources,
                 Failure& failure);
/// Those of all three lists of a cold run.
bool OpenAllSources(const Job& job, const SourceOwner& owner, Sources& sources, Failure& failure);

}  // namespace igloo::jail
