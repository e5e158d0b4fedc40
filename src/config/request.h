#pragma once

#include <functional>
#include <optional>
#include <string>

#include "config/catalogue.h"
#include "environment/run_policy.h"

namespace igloo::config {

/// The value of one of the caller's variables, if it is set.
using Lookup = std::function<std::optional<std::string>(const std::string& name)>;

/// Adds to a request what the configuration says about every run in an environment: the project,
/// variables, and what its backend can do. Fails when that is not what was asked for.
Result<void> Complete(const Config& config, const Configured& configured, const Lookup& lookup,
                      environment::RunRequest& request);

}  // namespace igloo::config
