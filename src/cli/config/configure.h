#pragma once

#include "base/error.h"
#include "cli/args.h"
#include "config/catalogue.h"
#include "environment/run_policy.h"

namespace igloo::cli {

/// Whether the caller's values go into a plan, or it only says whose they are.
enum class Inherit { kValues, kNames };

/// The environment that `run` or `shell` was asked for, as the configuration and the command line
/// have it; the request gets what they say about everything else.
Result<config::Configured> Configure(const ParsedArgs& args, Inherit inherit,
                                     environment::RunRequest& request, Console& console);

}  // namespace igloo::cli
