#include <stdio.h>
#include <unistd.h>

#include "apps/launcher_program.h"
#include "container/inside.h"
#include "container/outside.h"

/// Started by igloo with the words of an engine; and by that, as the first process of a container.
int main(int argc, char** argv, char** environment) {
  igloo::apps::RememberWords(argc, argv, environment);
  if (getpid() == 1) {
    igloo::apps::LiveAs("igloo-container");
    igloo::container::LiveInside(igloo::apps::kProgram.init);
  }
  if (argc > 1 && geteuid() == 0) igloo::container::LiveOutside(argv + 1, environment);
  dprintf(STDERR_FILENO, "igloo-container is started by igloo: igloo run --backend container\n");
  return 2;
}
