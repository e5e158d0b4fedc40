#pragma once

namespace igloo::jail {

/// Serves requests from `socket` until end of file; `init_fd` is igloo-init, open for reading.
/// `ahead`: a cold run is coming, so make its sandbox before it does.
[[noreturn]] void Serve(int socket, int init_fd, bool ahead);

}  // namespace igloo::jail
