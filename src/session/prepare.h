#pragma once

#include <optional>
#include <string>

#include "base/error.h"
#include "cgroup/groups.h"
#include "environment/run_policy.h"
#include "sandbox/plan.h"

namespace igloo::session {

/// The request with what this machine has for its network: a device, the host's resolver.
Result<environment::RunRequest> OnThisMachine(environment::RunRequest request);

/// The plan of a policy, on this machine as it is now.
Result<sandbox::Plan> PlanOf(const sandbox::Policy& policy);

/// The plan of a run in an environment, likewise.
Result<sandbox::Plan> PlanFor(const environment::Environment& environment,
                              const environment::RunRequest& request);

/// A group for the sandbox of a plan, with its limits; none where the machine has no groups. A
/// sandbox that stays must not end with what ran in it: kEndsOne.
Result<std::optional<cgroup::Lease>> TakeGroup(
    cgroup::Groups& groups, const sandbox::Plan& plan,
    cgroup::OutOfMemory out_of_memory = cgroup::OutOfMemory::kEndsAll);
/// The same for one that stays long. Where a limit on processors costs its start milliseconds, it
/// is still to be set (Run::LimitCpusOfRunning).
Result<std::optional<cgroup::Lease>> TakeLastingGroup(cgroup::Groups& groups,
                                                      const sandbox::Plan& plan);
bool LimitsCpusLater(const cgroup::Groups& groups);

/// That nobody keeps a plan's limit on processors here, and why; empty: it is kept, or there is
/// none.
std::string UnlimitedCpus(const cgroup::Found& found, const sandbox::Plan& plan);

}  // namespace igloo::session
