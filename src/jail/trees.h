#pragma once

#include "jail/sandbox.h"

namespace igloo::jail {

// Mounts, always by descriptor. Paths are relative to the root under construction; a leading '/'
// is dropped. Every function returns false, or -1, with errno set.

/// "/a/b" -> "a/b", for calls relative to the root's descriptor.
const char* Relative(const char* path);

/// Opens `path`. SECURITY: it stays below `root_fd`, and no link on the way is followed: a hostile
/// project cannot lead anything elsewhere. `resolve`: further RESOLVE_* that it must keep to.
int OpenBelow(int root_fd, const char* path, uint64_t flags, uint64_t resolve = 0);

/// Attaches a detached mount at `path`, as OpenBelow finds it. Closes `tree`.
bool Attach(int tree, int root_fd, const char* path);

/// Makes what nearly every run needs while its job is still being planned. What cannot be made now
/// is tried again, and its failure told, when it is asked for.
void FillStock(Stock& stock);
/// A detached tmpfs, or a proc of this PID namespace: from the stock, or a new one.
int TakeMemory(Stock& stock, const ops::Memory& wanted);
int TakeProc(Stock& stock);

/// A detached tmpfs, whatever is in stock.
int NewTmpfs(const ops::Memory& memory);

/// Attaches a copy of `from` (a path below the root) over `path`; absent paths are fine.
bool Cover(int root_fd, const char* from, const char* path);
bool FreezeInPlace(int root_fd, const char* path);
/// By a mount over it: a descriptor of what is there now can still be written to.
bool FreezeOver(int root_fd, const char* path);

/// A detached read-only overlay of `lowers` (absolute paths, ':' between them).
int NewReadOnlyOverlay(const char* lowers);
/// Copy-on-write view of the detached tree `lower` at `path`.
bool AttachOverlay(int lower, int root_fd, const ops::Op& op);

}  // namespace igloo::jail
