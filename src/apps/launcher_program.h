#pragma once

#include <string.h>
#include <sys/prctl.h>

#include "guest/init.h"
#include "jail/launcher.h"

namespace igloo::apps {

/// Where a launcher finds igloo.
inline constexpr int kLauncherSocket = 3;

/// The arguments and variables as they lie in memory, where the process list reads them.
inline constinit char* g_words = nullptr;
inline constinit size_t g_words_size = 0;

inline void RememberWords(int argc, char** argv, char** environment) {
  if (argc < 1) return;
  g_words = argv[0];
  char* last = argv[argc - 1];
  for (; *environment != nullptr; ++environment) last = *environment;
  g_words_size = static_cast<size_t>(last - g_words) + strlen(last) + 1;
}

/// SECURITY: a sandbox's first process has the launcher's memory; nothing of whoever started that
/// may lie there.
inline void LiveAs(const char* name) {
  prctl(PR_SET_NAME, name, 0, 0, 0);
  if (g_words_size == 0) return;
  memset(g_words, 0, g_words_size);
  strncpy(g_words, name, g_words_size - 1);
}

inline constexpr jail::Program kProgram = {
    .init =
        [] {
          LiveAs("igloo-init");
          guest::InitMain();
        },
    // Not earlier: until then the words may be those of a process that is about to become igloo.
    .first_request = [] { LiveAs("igloo-jail"); },
};

}  // namespace igloo::apps
