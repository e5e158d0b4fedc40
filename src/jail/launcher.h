#pragma once

namespace igloo::jail {

/// Serves requests from `socket` until end of file; `init_fd` is igloo-init, open for reading.
[[noreturn]] void Serve(int socket, int init_fd);

}  // namespace igloo::jail
