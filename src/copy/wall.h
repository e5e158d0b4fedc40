#pragma once

#include <sys/types.h>

#include "base/error.h"

namespace igloo::copy {

/// Where the sandbox of `inside` has a subordinate id: goes into the user namespace that maps those
/// of this user. /proc/PID/mem belongs to the id of its process, so only from there can it be
/// opened. Nothing is gained over anything else: the namespace is this very user's own.
Result<void> ReachIdOf(pid_t inside);

/// Goes into the sandbox of process `inside`: its user namespace, where this process then has the
/// one right to look into processes and none over anything outside, its files instead of the
/// host's, its network. What is open already stays open, and processes that are held stay held.
/// Ends with its parent, as before.
Result<void> EnterSandboxOf(pid_t inside);

/// Gives up everything that copying does not need: no file can be opened, not even by way of /proc,
/// which is closed; no program be started, no memory be code, no address be reached. What is needed
/// of a process is open by now (AddressSpace::Open, ReadTexts). No way back.
Result<void> RaiseWall();

}  // namespace igloo::copy
