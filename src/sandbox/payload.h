#pragma once

#include "base/error.h"
#include "sandbox/plan.h"

namespace igloo::sandbox {

/// What can be refused before anything is laid out: the program, the user, variables, the network.
Result<void> CheckPolicy(const Policy& policy);

/// What igloo-init does for this policy, under these Landlock rules.
Payload MakePayload(const Policy& policy, std::vector<PathRule> paths);

/// Whether igloo-init has room for it.
Result<void> CheckRoom(const Payload& payload);

}  // namespace igloo::sandbox
