#pragma once

#include "environment/host_environment.h"

namespace igloo::environment::host {

inline constexpr std::string_view kNodeAliases[] = {"javascript", "js"};
inline constexpr std::string_view kNodeStart[] = {"/usr/bin/node"};
inline constexpr HostProgram kNodeNeeds[] = {{"/usr/bin/node", "nodejs"}};

inline constexpr HostEnvironment kNode = {
    .name = "node",
    .aliases = kNodeAliases,
    .description = "Node.js with what the host has installed",
    .needs = kNodeNeeds,
    .language = "node",
    .start = kNodeStart,
};

}  // namespace igloo::environment::host
