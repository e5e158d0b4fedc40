#pragma once

#include "environment/host_environment.h"

namespace igloo::environment::host {

// Options as arguments: the variables for them make Java print a line on every start. Heap and
// collector are bounded here because Java would size both by the host's memory and cores.
inline constexpr std::string_view kJavaStart[] = {"/usr/bin/java", "-Xmx768m", "-XX:+UseSerialGC",
                                                  "-XX:TieredStopAtLevel=1", "-XX:-UsePerfData"};
inline constexpr HostProgram kJavaNeeds[] = {{"/usr/bin/java", "default-jdk-headless"},
                                             {"/usr/bin/javac", "default-jdk-headless"}};
// Debian keeps a JDK's own configuration there, and Java does not start without it.
inline constexpr std::string_view kJavaEtc[] = {"/etc/java-*-openjdk"};

inline constexpr HostEnvironment kJava = {
    .name = "java",
    .description = "Java: one file, compiled in memory and run",
    .needs = kJavaNeeds,
    .code_file = "main.java",
    .start = kJavaStart,
    .etc = kJavaEtc,
    .seconds = 60,
    .memory_mb = 2048,
    .processes = 1024,
};

}  // namespace igloo::environment::host
