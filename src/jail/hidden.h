#pragma once

#include "jail/sandbox.h"
#include "ops/ops.h"

namespace igloo::jail {

/// kHide: covers a name in a tree of the host. Nothing is made there. False with errno; ESTALE: it
/// is not what the planner saw.
bool HideBehind(Setup& setup, const ops::Op& op);

}  // namespace igloo::jail
