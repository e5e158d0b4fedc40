#pragma once

#include <array>
#include <vector>

#include "sandbox/layout.h"
#include "sandbox/plan.h"

namespace igloo::sandbox {

/// What the entries of a policy came to.
struct PlannedSteps {
  std::array<std::vector<Step>, 3> by_part = {};
  std::vector<Step> late_names = {};  ///< mount points in the shared root that the run needs
};

/// The three lists of a plan: these steps, and before and behind them what every sandbox needs, in
/// the order in which the launcher can do it.
void MakeLists(const Policy& policy, const Layout& layout, PlannedSteps steps, Plan& plan);

}  // namespace igloo::sandbox
