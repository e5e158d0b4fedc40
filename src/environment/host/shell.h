#pragma once

#include "environment/host_environment.h"

namespace igloo::environment::host {

inline constexpr std::string_view kShellAliases[] = {"bash"};
inline constexpr std::string_view kShellStart[] = {"/usr/bin/bash"};
inline constexpr HostProgram kShellNeeds[] = {{"/usr/bin/bash", "bash"}};
inline constexpr HostProgram kShellExtras[] = {{"/usr/bin/jq", "jq"},
                                               {"/usr/bin/tree", "tree"},
                                               {"/usr/bin/file", "file"},
                                               {"/usr/bin/bc", "bc"}};

inline constexpr HostEnvironment kShell = {
    .name = "shell",
    .aliases = kShellAliases,
    .description = "Bash and the usual command line tools",
    .needs = kShellNeeds,
    .extras = kShellExtras,
    .language = "bash",
    .start = kShellStart,
};

}  // namespace igloo::environment::host
