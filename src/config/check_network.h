#pragma once

#include <vector>

#include "config/config.h"
#include "config/problem.h"

namespace igloo::config {

/// A secret against itself: one source, hosts, names that can be used. `table` is what the file
/// has.
void CheckSecret(const SecretConfig& secret, const Table& table, std::vector<Problem>& problems);

/// What each environment wants of the network against what else the file says: levels that have
/// rules and secrets, ports that two want, secrets that are there.
void CheckNetworks(const Config& config, std::vector<Problem>& problems);

}  // namespace igloo::config
