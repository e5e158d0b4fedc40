#pragma once

#include "agent/box.h"
#include "base/error.h"

namespace igloo::agent {

/// Settings that the administrator of this machine makes for an agent (/etc/claude-code, ...) are a
/// policy: the box sees them read-only. Where igloo writes a file of its own into that directory
/// inside, it takes copies of the others, and puts what it has to say into the administrator's file
/// of that name. Fails if it cannot: a policy is not left out in silence.
Result<void> AddManagedSettings(const Profile& profile, const Owner& owner, Box& box);

}  // namespace igloo::agent
