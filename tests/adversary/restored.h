#pragma once

#include <string>
#include <vector>

#include "sandbox/policy.h"
#include "scene.h"
#include "support/igloo.h"

namespace igloo::testing {

/// The policy of an interpreter that is restored, as a server makes it, with the scene's
/// project. Its `argv` is the driver's.
sandbox::Policy PolicyForRestored(const Scene& scene);

/// Makes a checkpoint and has an interpreter that is restored from it become `argv` behind the wall
/// of `policy`, whose own `argv` is the driver's; waits for the end. Status -1: igloo refused, or
/// the program could not be started.
Outcome RunRestored(sandbox::Policy policy, const std::vector<std::string>& argv);

}  // namespace igloo::testing
