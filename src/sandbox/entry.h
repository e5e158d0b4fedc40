#pragma once

#include <string>

#include "base/error.h"
#include "sandbox/policy.h"

namespace igloo::sandbox {

/// Where an entry appears inside the sandbox.
std::string TargetOf(const Entry& entry);

/// Whether it may cover what is there already; what is no mount never may.
Covering CoveringOf(const Entry& entry);

/// Whether it brings a file system of its own rather than a name in another one.
bool IsMount(const Entry& entry);

/// The entries by depth, then by the order given: parents before what lies below them.
/// Fails on a target that is no plain path or that igloo keeps for itself.
Result<std::vector<const Entry*>> Sorted(const std::vector<Entry>& entries);

}  // namespace igloo::sandbox
