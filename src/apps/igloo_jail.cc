#include <string.h>

#include "jail/launcher.h"

/// Started by igloo with its socket as descriptor 3 and igloo-init as descriptor 4. The argument
/// "ahead" announces a cold run.
int main(int argc, char** argv) {
  igloo::jail::Serve(3, 4, argc > 1 && strcmp(argv[1], "ahead") == 0);
}
