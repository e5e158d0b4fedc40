#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "config/load.h"

namespace igloo::service {

/// What of the caller's environment decides which configuration counts.
config::Variables ReadVariables();

/// Where the server keeps what it writes down. Fails when there is no such place: a home that is
/// not there stays so, and nothing is made outside of what the user has.
Result<std::string> StatePlace();

/// Names of the environments that igloo brings along.
std::vector<std::string_view> PresetNames();

}  // namespace igloo::service
