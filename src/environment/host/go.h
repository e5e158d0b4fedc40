#pragma once

#include "environment/host_environment.h"

namespace igloo::environment::host {

inline constexpr std::string_view kGoAliases[] = {"golang"};
inline constexpr std::string_view kGoStart[] = {"/usr/bin/go", "run"};
inline constexpr HostProgram kGoNeeds[] = {{"/usr/bin/go", "golang-go"}};
inline constexpr HostVariable kGoVariables[] = {
    // One file without a module; nothing can be downloaded anyway.
    {"GO111MODULE", "off"},
    {"GOFLAGS", "-mod=mod"},
    {"GOPROXY", "off"},
    {"GOTOOLCHAIN", "local"},
    {"GOTELEMETRY", "off"},
    {"GOPATH", "/workspace/go"},
    {"GOCACHE", "/workspace/.cache/go-build"},
    // Pure Go needs no C compiler.
    {"CGO_ENABLED", "0"},
};

inline constexpr HostEnvironment kGo = {
    .name = "go",
    .aliases = kGoAliases,
    .description = "Go: one file, compiled and run with the standard library",
    .needs = kGoNeeds,
    .language = "go",
    .start = kGoStart,
    .variables = kGoVariables,
    // The compiler builds the standard library's packages into the cache of every fresh sandbox.
    .seconds = 60,
    .memory_mb = 2048,
    .processes = 1024,
};

}  // namespace igloo::environment::host
