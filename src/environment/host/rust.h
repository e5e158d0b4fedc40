#pragma once

#include "environment/host_environment.h"

namespace igloo::environment::host {

// The file comes as $1: nothing of the code is ever part of a command. In a session the compiler
// keeps what it made, where the session's driver says; for one run it would only cost time.
inline constexpr std::string_view kRustStart[] = {
    "/bin/sh", "-c",
    "rustc --edition 2021 ${IGLOO_CACHE:+-C incremental=$IGLOO_CACHE} -o /tmp/main -- \"$1\" && "
    "exec /tmp/main",
    "rust"};
inline constexpr HostProgram kRustNeeds[] = {{"/usr/bin/rustc", "rustc"}, {"/usr/bin/cc", "gcc"}};
inline constexpr HostVariable kRustVariables[] = {{"CARGO_HOME", "/workspace/.cargo"}};

inline constexpr HostEnvironment kRust = {
    .name = "rust",
    .description = "Rust: one file, compiled and run with the standard library",
    .needs = kRustNeeds,
    .language = "rust",
    .start = kRustStart,
    .variables = kRustVariables,
    .seconds = 60,
    .memory_mb = 2048,
    .processes = 512,
};

}  // namespace igloo::environment::host
