#pragma once

namespace igloo::jail {

/// Closes every way to gain a capability by exec, for good. Those held now stay.
bool BoundPrivileges();

/// To be called before: what is raised here stays, also across a new program, although no other
/// way to it is left.
bool RaiseForPrograms(unsigned capability);

/// Gives up every capability in every other set, but for those in `kept`, by number of their bit.
bool DropPrivileges(unsigned long kept);

}  // namespace igloo::jail
