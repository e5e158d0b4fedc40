#pragma once

#include <functional>
#include <optional>
#include <string>

#include "config/catalogue.h"
#include "config/secrets.h"
#include "environment/run_policy.h"

namespace igloo::config {

/// The value of one of the caller's variables, if it is set.
using Lookup = std::function<std::optional<std::string>(const std::string& name)>;

/// What a configuration reads of its caller's.
struct Caller {
  Lookup variable;
  ReadSecret secret;
};

/// Adds to a request what the configuration says about every run in an environment: the project,
/// variables, the network with its secrets, and what its backend can do. Fails when that is not
/// what was asked for, and when a secret cannot be read: nothing runs without one that it was
/// given.
Result<void> Complete(const Config& config, const Configured& configured, const Lookup& lookup,
                      const Secrets& secrets, environment::RunRequest& request);

}  // namespace igloo::config
