#pragma once

#include "environment/host_environment.h"

namespace igloo::environment::host {

inline constexpr std::string_view kPythonAliases[] = {"python3"};
inline constexpr std::string_view kPythonStart[] = {"/usr/bin/python3"};
inline constexpr HostProgram kPythonNeeds[] = {{"/usr/bin/python3", "python3"}};
// The code's file is not in the working directory, but imports from there are expected to work.
inline constexpr HostVariable kPythonVariables[] = {{"PYTHONPATH", "/workspace"}};

inline constexpr HostEnvironment kPython = {
    .name = "python",
    .aliases = kPythonAliases,
    .description = "Python 3 with what the host has installed",
    .needs = kPythonNeeds,
    .language = "python",
    .start = kPythonStart,
    .variables = kPythonVariables,
};

}  // namespace igloo::environment::host
