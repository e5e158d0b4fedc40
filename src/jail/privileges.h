#pragma once

namespace igloo::jail {

/// Closes every way to gain a capability by exec, for good. Those held now stay.
bool BoundPrivileges();

/// Gives up every capability in every other set.
bool DropPrivileges();
/// Keeps one capability, also across a new program, and no way to another.
bool KeepOnly(unsigned capability);

}  // namespace igloo::jail
