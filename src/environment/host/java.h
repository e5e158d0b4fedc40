#pragma once

#include "environment/host_environment.h"

namespace igloo::environment::host {

// Options as arguments: the variables for them make Java print a line on every start. Heap and
// collector are bounded here because Java would size both by the host's memory and cores.
//
// What takes most of the time is loading the compiler. In a session Java keeps it as it is in
// memory (an archive of classes), made behind the first answer by a program that is none of the
// user's. That is tried once; where it fails, or the archive does not fit any more, all is as
// before.
inline constexpr std::string_view kJavaStart[] = {"/bin/sh", "-c",
                                                  R"sh(kept=${IGLOO_CACHE:+$IGLOO_CACHE/java.jsa}
options='-Xmx768m -XX:+UseSerialGC -XX:TieredStopAtLevel=1 -XX:-UsePerfData'
[ "$kept" ] || exec /usr/bin/java $options "$1"
[ -f "$kept" ] && exec /usr/bin/java $options -XX:SharedArchiveFile="$kept" -Xlog:cds=off "$1"
keep() {
  work=$IGLOO_CACHE/java
  mkdir -p "$IGLOO_CACHE" && mkdir "$work" && echo 'class main {
    public static void main(String[] all) {
      System.out.printf("%d%n", java.util.List.of(1, 2).stream().map(x -> x + 1).count());
    }
  }' >"$work/main.java" &&
    nice /usr/bin/java $options -Xlog:disable -XX:ArchiveClassesAtExit="$work/new" \
      "$work/main.java" && mv "$work/new" "$kept"
}
/usr/bin/java $options "$1"
status=$?
keep </dev/null >/dev/null 2>&1 &
exit "$status")sh",
                                                  "java"};
inline constexpr HostProgram kJavaNeeds[] = {{"/usr/bin/java", "default-jdk-headless"},
                                             {"/usr/bin/javac", "default-jdk-headless"}};

inline constexpr HostEnvironment kJava = {
    .name = "java",
    .description = "Java: one file, compiled in memory and run",
    .needs = kJavaNeeds,
    .language = "java",
    .start = kJavaStart,
    .seconds = 60,
    .memory_mb = 2048,
    .processes = 1024,
};

}  // namespace igloo::environment::host
