#pragma once

#include <string_view>
#include <vector>

#include "config/load.h"

namespace igloo::cli {

/// What of the caller's environment decides which configuration counts.
config::Variables ReadVariables();

/// Names of the environments that igloo brings along.
std::vector<std::string_view> PresetNames();

}  // namespace igloo::cli
