#pragma once

#include <string>

#include "base/error.h"
#include "sandbox/plan.h"
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

/// Shows the launcher the directory that keeps the changes of an overlay. It is there only while
/// the overlay is made: the plan has no name for it, and no rule of the payload's opens it.
Result<step::Bind> KeptChanges(const OverlayTree& tree, const PathFact& changes);

}  // namespace igloo::sandbox
