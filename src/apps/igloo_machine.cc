#include <stdlib.h>
#include <unistd.h>

#include "machine/guest.h"
#include "machine/relay.h"

/// In a machine, its first process. On the host, the relay: EXTRA and the emulator's words.
int main(int argc, char** argv) {
  if (getpid() == 1) igloo::machine::GuestMain();
  return argc > 2 ? igloo::machine::RelayMain(atoi(argv[1]), argv + 2) : 125;
}
