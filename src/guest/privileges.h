#pragma once

#include <stdint.h>

namespace igloo::guest {

/// Locks securebits where the backend could not: bubblewrap leaves igloo-init CAP_SETPCAP for it,
/// which is given up here. Nothing where the sandbox has no such right; errno says why not.
bool LockPrivileges();

/// SECURITY: whatever backend built this sandbox, the payload never starts with privileges, but for
/// those that it was granted (capability bits), and never with a way to regain them.
bool HasNoPrivilegesBut(uint32_t granted);

}  // namespace igloo::guest
