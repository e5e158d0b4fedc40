#include "apps/launcher_program.h"
#include "jail/launcher.h"

/// Started by igloo with its socket. The argument "ahead" announces a cold run.
int main(int argc, char** argv, char** environment) {
  const bool ahead = argc > 1 && strcmp(argv[1], "ahead") == 0;
  igloo::apps::RememberWords(argc, argv, environment);
  igloo::jail::Serve(igloo::apps::kLauncherSocket, igloo::apps::kProgram, ahead);
}
