#pragma once

#include "base/error.h"
#include "cli/args.h"

namespace igloo::cli {

class Console;

// The words of 'igloo env' that change something.
Result<int> EnvAdd(const ParsedArgs& args, Console& console);
Result<int> EnvBuild(const ParsedArgs& args, Console& console);
Result<int> EnvUpdate(const ParsedArgs& args, Console& console);
Result<int> EnvRemove(const ParsedArgs& args, Console& console);
Result<int> EnvGc(const ParsedArgs& args, Console& console);

}  // namespace igloo::cli
