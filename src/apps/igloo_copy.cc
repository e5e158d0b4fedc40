// Reads and writes the memory of interpreters in sandboxes, for one checkpoint or one fork of a
// session. Started by igloo for each of them, with a socket and nothing else.

#include <fcntl.h>
#include <unistd.h>

#include <cstdio>

#include "copy/protocol.h"
#include "copy/serve.h"

int main(int argc, char**) {
  if (argc != 1 || ::fcntl(igloo::copy::kSocket, F_GETFD) < 0) {
    std::fputs("igloo-copy is started by igloo: igloo mcp --help\n", stderr);
    return 2;
  }
  const auto served = igloo::copy::Serve(igloo::copy::kSocket);
  // Without the C library's own end: the filter knows nothing of what that may do.
  ::_exit(served ? 0 : 1);
}
