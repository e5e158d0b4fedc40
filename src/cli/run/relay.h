#pragma once

#include "backend/backend.h"
#include "base/error.h"
#include "cli/console.h"
#include "cli/terminal.h"
#include "config/config.h"
#include "session/run.h"

namespace igloo::cli {

/// Runs a plan on a terminal of its own and passes keys, output and sizes between that one and the
/// caller's (standard input and output), until the program ends. A signal that would end igloo ends
/// the program first, so the caller's terminal is always left as it was.
Result<session::RunResult> RunOnTerminal(const sandbox::Plan& plan, backend::Backend& backend,
                                         Pty pty, session::RunIo io,
                                         const config::AuditConfig& audit, Console& console);

}  // namespace igloo::cli
