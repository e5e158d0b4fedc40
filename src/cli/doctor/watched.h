#pragma once

#include <string>

#include "backend/backend.h"
#include "base/error.h"
#include "session/run.h"

namespace igloo::cli {

struct Watched {
  session::RunResult result;
  std::string uid_map = {};  ///< as seen from here; empty when it could not be read
};

/// Runs a plan whose code, at its end, waits for the end of its input in a process that has the
/// word `marker` in its command line, and looks at that process from outside meanwhile.
Result<Watched> ExecuteWatched(const sandbox::Plan& plan, backend::Backend& backend,
                               const std::string& marker);

}  // namespace igloo::cli
