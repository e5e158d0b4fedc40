#pragma once

#include <string>
#include <vector>

#include "sandbox/policy.h"
#include "scene.h"
#include "support/igloo.h"

namespace igloo::testing {

/// The policy of an interpreter that a zygote forks, as a server makes it, with the scene's
/// project. Its `argv` is the driver's.
sandbox::Policy PolicyForForked(const Scene& scene);

/// Starts a zygote and has a fork of it become `argv` behind the wall of `policy`, whose own `argv`
/// is the driver's; waits for the end. Status -1: igloo refused, or the program could not be
/// started.
Outcome RunForked(sandbox::Policy policy, const std::vector<std::string>& argv);

}  // namespace igloo::testing
