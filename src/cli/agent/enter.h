#pragma once

#include <string>
#include <vector>

#include "agent/registry.h"
#include "base/error.h"

namespace igloo::cli {

/// Starts a program in a running box, behind its socket, on a terminal of its own that igloo passes
/// keys and output to; returns its exit code. Needs a terminal.
Result<int> EnterBox(const std::string& socket, const std::vector<std::string>& argv);

/// The same for a box that may have started only now: waits until it can be entered.
Result<int> JoinBox(const agent::BoxRegistry& boxes, const agent::BoxInfo& box,
                    const std::vector<std::string>& argv);

}  // namespace igloo::cli
