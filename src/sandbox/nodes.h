#pragma once

#include "base/error.h"
#include "sandbox/plan.h"

namespace igloo::sandbox {

/// Whether every sandbox may have this device.
Result<void> CheckHarmless(const DeviceNode& node);

/// How such a device is mounted.
Result<step::Bind> BindOfNode(const DeviceNode& node, const PathFact& fact);

/// How a socket or a device of the host's is mounted. Fails for what is neither, and for one that
/// is granted without a reason.
Result<step::Bind> BindOfNode(const HostNode& node, const PathFact& fact);

}  // namespace igloo::sandbox
