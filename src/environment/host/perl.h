#pragma once

#include "environment/host_environment.h"

namespace igloo::environment::host {

inline constexpr std::string_view kPerlStart[] = {"/usr/bin/perl"};
inline constexpr HostProgram kPerlNeeds[] = {{"/usr/bin/perl", "perl"}};
// The code's file is not in the working directory, but what is there is expected to be found.
inline constexpr HostVariable kPerlVariables[] = {{"PERL5LIB", "/workspace"}};

inline constexpr HostEnvironment kPerl = {
    .name = "perl",
    .description = "Perl with what the host has installed",
    .needs = kPerlNeeds,
    .language = "perl",
    .start = kPerlStart,
    .variables = kPerlVariables,
};

}  // namespace igloo::environment::host
