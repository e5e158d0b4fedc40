#pragma once

#include "environment/host_environment.h"

namespace igloo::environment::host {

inline constexpr std::string_view kRubyAliases[] = {"rb"};
inline constexpr std::string_view kRubyStart[] = {"/usr/bin/ruby"};
inline constexpr HostProgram kRubyNeeds[] = {{"/usr/bin/ruby", "ruby"}};
// The code's file is not in the working directory, but what is there is expected to be found.
inline constexpr HostVariable kRubyVariables[] = {{"RUBYLIB", "/workspace"}};

inline constexpr HostEnvironment kRuby = {
    .name = "ruby",
    .aliases = kRubyAliases,
    .description = "Ruby with what the host has installed",
    .needs = kRubyNeeds,
    .language = "ruby",
    .start = kRubyStart,
    .variables = kRubyVariables,
};

}  // namespace igloo::environment::host
