#include "jail/launcher.h"

/// Started by igloo with its socket as descriptor 3 and igloo-init as descriptor 4.
int main() { igloo::jail::Serve(3, 4); }
