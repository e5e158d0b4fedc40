#pragma once

#include "jail/sandbox.h"

namespace igloo::jail {

/// A cold run's second pair of hands, in the sandbox and on another processor: what the kernel
/// takes long for goes on beside the mounts. It makes the network namespace at once.
bool StartHelper(Setup& setup);

/// Waits for the network namespace and enters it. Where there is no helper, this process has its
/// own already and only raises the loopback.
bool EnterNetwork(Setup& setup);

/// Takes the host's tree away, which lies on top of the new root since the roots were exchanged.
/// Detaching it makes the kernel wait for every processor, so a helper does it meanwhile.
bool DropOldRoot(Setup& setup);

/// SECURITY: nothing goes on as igloo-init before this has said yes.
bool OldRootIsGone(Setup& setup);

}  // namespace igloo::jail
