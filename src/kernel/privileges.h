#pragma once

namespace igloo::kernel {

// Capabilities: igloo-jail gives them up, igloo-init checks it. Everything returns false with
// errno.

/// Closes every way to gain a capability by exec, for good. Those held now stay.
bool BoundPrivileges();

/// To be called before: what is raised here stays, also across a new program, although no other
/// way to it is left.
bool RaiseForPrograms(unsigned capability);

/// Gives up every capability in every other set, but for those in `kept`, by number of their bit.
bool DropPrivileges(unsigned long kept);

/// Locks securebits where the backend could not: bubblewrap leaves igloo-init CAP_SETPCAP for it,
/// which is given up here. Nothing where the sandbox has no such right.
bool LockPrivileges();

/// SECURITY: whatever backend built this sandbox, the payload never starts with privileges, but for
/// those that it was granted (capability bits), and never with a way to regain them.
bool HasNoPrivilegesBut(unsigned granted);

}  // namespace igloo::kernel
