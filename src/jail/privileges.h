#pragma once

namespace igloo::jail {

/// Gives up every capability in every set, for good, and any way to regain one by exec.
bool DropPrivileges();

}  // namespace igloo::jail
