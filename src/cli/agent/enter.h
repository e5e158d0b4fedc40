#pragma once

#include <string>
#include <vector>

#include "base/error.h"

namespace igloo::cli {

/// Starts a program in a running box, behind its socket, on a terminal of its own that igloo passes
/// keys and output to; returns its exit code. Needs a terminal.
Result<int> EnterBox(const std::string& socket, const std::vector<std::string>& argv);

}  // namespace igloo::cli
