#pragma once

#include "backend/backend.h"
#include "base/error.h"
#include "environment/run_policy.h"
#include "session/run.h"

namespace igloo::cli {

/// Environment -> policy -> plan: the way every command takes.
Result<sandbox::Plan> PlanFor(const environment::Environment& environment,
                              const environment::RunRequest& request);

/// igloo's exit code for a run that did not start: as a shell would say it for a program that is
/// not there or cannot run, 125 otherwise.
int ExitCodeFor(const Error& error);

/// What SIGINT, SIGTERM and SIGHUP of igloo mean while a run goes on.
enum class Signals {
  kForward,  ///< the first SIGINT asks the code to stop, everything else ends it
  kDefault,
};

/// Where the sandbox of a plan is counted; nothing where this machine has no such place.
Result<std::optional<cgroup::Lease>> TakeGroup(cgroup::Groups& groups, const sandbox::Plan& plan);

/// Runs a plan to its end on an event loop of its own.
Result<session::RunResult> Execute(const sandbox::Plan& plan, backend::Backend& backend,
                                   session::RunIo io, Signals signals);

}  // namespace igloo::cli
