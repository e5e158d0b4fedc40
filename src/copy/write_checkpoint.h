#pragma once

#include "base/error.h"
#include "base/unique_fd.h"
#include "copy/address_space.h"
#include "copy/proc.h"
#include "copy/tracee.h"

namespace igloo::copy {

/// How interpreters will be restored.
struct RestoreOptions {
  pid_t pid = 0;        ///< their number in their sandboxes
  int descriptor = -1;  ///< under which they get the checkpoint; the one behind it is free, too
  std::uint64_t memory = 0;  ///< bytes that the checkpoint may take; 0: not limited by the sandbox
};

/// A checkpoint (checkpoint/format.h) of a process that is held: a sealed file in memory. Fails for
/// what cannot be restored: memory that it shares, or too much of it. Also when it takes too long.
/// SECURITY: everything about the process may be hostile. What it can spoil is processes that are
/// restored from it, which stand behind their own walls.
Result<UniqueFd> WriteCheckpoint(const Tracee& tracee, const AddressSpace& memory,
                                 const ProcessTexts& texts, const RestoreOptions& options);

}  // namespace igloo::copy
