#pragma once

#include "ops/ops.h"

namespace igloo::jail {

// Mounts, always by descriptor. Paths are relative to the root under construction; a leading '/'
// is dropped. Every function returns false with errno set.

/// "/a/b" -> "a/b", for calls relative to the root's descriptor.
const char* Relative(const char* path);

/// Attaches a detached mount. SECURITY: no symbolic link on the way is followed, so a hostile
/// project cannot move a mount that lies below it. Closes `tree`.
bool Attach(int tree, int root_fd, const char* path);

/// A detached tmpfs, or -1.
int NewTmpfs(const ops::Memory& memory);
/// A detached proc of this PID namespace, or -1.
int NewProc();

/// Attaches a copy of `from` (a path below the root) over `path`; absent paths are fine.
bool Cover(int root_fd, const char* from, const char* path);
bool FreezeInPlace(int root_fd, const char* path);
/// By a mount over it: a descriptor of what is there now can still be written to.
bool FreezeOver(int root_fd, const char* path);

/// A detached read-only overlay of `lowers` (absolute paths, ':' between them), or -1.
int NewReadOnlyOverlay(const char* lowers);
/// Copy-on-write view of the detached tree `lower` at `path`. Closes `lower`.
bool AttachOverlay(int lower, int root_fd, const ops::Op& op);

}  // namespace igloo::jail
