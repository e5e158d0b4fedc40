#pragma once

#include <sys/types.h>

#include "base/error.h"

namespace igloo::copy {

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
