#pragma once

#include <string_view>

#include "backend/backend.h"
#include "base/error.h"
#include "environment/run_policy.h"
#include "session/run.h"

namespace igloo::cli {

/// Environment by name -> policy -> plan: the way every command takes.
Result<sandbox::Plan> PlanFor(std::string_view environment, const environment::RunRequest& request);

/// What SIGINT, SIGTERM and SIGHUP of igloo mean while a run goes on.
enum class Signals {
  kForward,  ///< the first SIGINT asks the code to stop, everything else ends it
  kDefault,
};

/// Runs a plan to its end on an event loop of its own.
Result<session::RunResult> Execute(const sandbox::Plan& plan, backend::Backend& backend,
                                   session::RunIo io, Signals signals);

}  // namespace igloo::cli
