#pragma once

#include "base/error.h"
#include "sandbox/plan.h"

namespace igloo::sandbox {

/// How a read-only tree of the host becomes visible.
enum class Showing {
  kBind,      ///< the host's own inodes
  kView,      ///< an overlay of its own
  kFromBase,  ///< a part of the overlay of HostTree::within
  kCopy,      ///< a copy of a small file
};

/// What is possible for `tree`. `within` is the fact about HostTree::within, or null.
Showing ShowingOf(const HostTree& tree, const PathFact& fact, const PathFact* within);

/// The step that shows `tree`.
Step StepFor(const HostTree& tree, const PathFact& fact, Showing showing);

}  // namespace igloo::sandbox
