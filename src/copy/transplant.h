#pragma once

#include <sys/types.h>

#include <functional>

#include "base/error.h"
#include "base/unique_fd.h"

namespace igloo::copy {

/// A process in a sandbox.
struct SandboxedProcess {
  UniqueFd init = {};  ///< a pidfd of the sandbox's igloo-init
  pid_t inner = 0;     ///< its number in there
};

/// What becomes of a copy, as it happens; called while it is made.
struct Progress {
  /// From now on the original may be asked to fork; `closed`: a child that is closed to all others.
  std::function<void(bool closed)> expects = {};
  /// Whether it has answered: if there is no child by then, there will be none.
  std::function<bool()> answered = {};
  /// A child is held; its number in the sandbox. It may be another than the one that was asked for.
  std::function<void(pid_t inner)> holds = {};
  std::function<void()> goes_on = {};
  /// It had gone on, and can no more. It holds still; whoever hears this ends its sandbox.
  std::function<void(const Error& error)> lost = {};
};

/// Makes one process a copy of another: its memory, its registers, and a placeholder for each of
/// its open descriptors. Both were restored from the same checkpoint and wait for their next order,
/// so both have one and the same program at the same places. The copy keeps its own sandbox, wall
/// and descriptors: nothing of the original's goes along but bytes, and nothing is shared
/// afterwards. What is copied is the next child of the original, which igloo holds from its first
/// moment to its end: the copy goes on where that one was born. SECURITY: everything about both may
/// be hostile by now; what it can spoil is the copy. The copy goes on as soon as it can. Where the
/// kernel has it (copy/faults.h), that is before all of its memory is there: the rest comes when it
/// is touched, or in the background. Only from a child that nobody can write to: nothing that the
/// original does from then on reaches the copy. Blocks for as long as the bytes take. On its way
/// this process goes into the original's sandbox and gives up all else (copy/wall.h). A copy that
/// never went on is good for nothing: end it.
Result<void> Transplant(const SandboxedProcess& original, const SandboxedProcess& copy,
                        const Progress& progress);

}  // namespace igloo::copy
