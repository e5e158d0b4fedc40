#include <string.h>
#include <sys/prctl.h>

#include "guest/init.h"
#include "jail/launcher.h"

namespace {

constexpr char kInitName[] = "igloo-init";
char* g_name;   ///< the process list reads the arguments where they lie
size_t g_room;  ///< of all of them

/// A sandbox's first process is the launcher's child and no longer the launcher.
void LiveAsInit() {
  prctl(PR_SET_NAME, kInitName, 0, 0, 0);
  if (g_room >= sizeof kInitName) {
    memset(g_name, 0, g_room);
    memcpy(g_name, kInitName, sizeof kInitName);
  }
  igloo::guest::InitMain();
}

}  // namespace

/// Started by igloo with its socket as descriptor 3. The argument "ahead" announces a cold run.
int main(int argc, char** argv) {
  const bool ahead = argc > 1 && strcmp(argv[1], "ahead") == 0;
  if (argc > 0) {
    g_name = argv[0];
    g_room = static_cast<size_t>(argv[argc - 1] - argv[0]) + strlen(argv[argc - 1]) + 1;
  }
  igloo::jail::Serve(3, LiveAsInit, ahead);
}
