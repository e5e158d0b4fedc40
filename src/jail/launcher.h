#pragma once

namespace igloo::jail {

/// Serves requests from `socket` until end of file. Every sandbox ends up in `init`, which does not
/// return.
/// `ahead`: a cold run is coming, so make its sandbox before it does.
[[noreturn]] void Serve(int socket, void (*init)(), bool ahead);

}  // namespace igloo::jail
