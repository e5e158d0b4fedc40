#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cli/args.h"
#include "cli/doctor/wall_checks.h"

namespace igloo::cli {

/// One thing that a client does first, done for real.
struct CheckStep {
  std::string name = {};  ///< the method
  std::int64_t micros = 0;
  std::string detail = {};
  std::optional<Error> failure = {};
};

/// Starts igloo as a server, as clients do, asks what it is and what it has, and runs something
/// tiny. The last step is the first that failed, if any did. `state_home` is where the server
/// writes its log instead of the usual place, unless it is empty.
std::vector<CheckStep> TryServer(const ParsedArgs& args, const std::string& state_home,
                                 Console& console);

/// `igloo mcp check`.
Result<int> CheckMcp(const ParsedArgs& args, Console& console);

/// The same as one row of the doctor's, who leaves nothing behind and looks at no project.
Finding ProbeServer(const ParsedArgs& args, Console& console);

}  // namespace igloo::cli
