#pragma once

#include "backend/backend.h"
#include "base/error.h"
#include "base/log.h"
#include "config/config.h"
#include "session/prepare.h"
#include "session/run.h"

namespace igloo::cli {

using session::PlanFor;
using session::TakeGroup;

/// igloo's exit code for a run that did not start: as a shell would say it for a program that is
/// not there or cannot run, 125 otherwise.
int ExitCodeFor(const Error& error);

/// What SIGINT, SIGTERM and SIGHUP of igloo mean while a run goes on.
enum class Signals {
  kForward,  ///< the first SIGINT asks the code to stop, everything else ends it
  kDefault,
};

/// From now on SIGHUP and SIGTERM wait until this process ends by itself. A terminal that vanishes
/// tells igloo more than once, and what is still to be done after a run (an agent's files are
/// brought back) must not be cut off by the second time.
void HoldEndSignals();

/// Runs a plan to its end on an event loop of its own. With kForward the signals are held then
/// (HoldEndSignals).
Result<session::RunResult> Execute(const sandbox::Plan& plan, backend::Backend& backend,
                                   session::RunIo io, Signals signals);

/// The same for a run whose network, if it has one, is looked after. `say` hears what its user
/// should know.
Result<session::RunResult> ExecuteMonitored(const sandbox::Plan& plan, backend::Backend& backend,
                                            session::RunIo io, const config::AuditConfig& audit,
                                            Log::Line say);

}  // namespace igloo::cli
