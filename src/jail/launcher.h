#pragma once

namespace igloo::jail {

/// What the program around the launcher does in its place.
struct Program {
  void (*init)();           ///< where every sandbox's first process ends up; does not return
  void (*first_request)();  ///< once, when igloo has spoken
};

/// Serves requests from `socket` until end of file.
/// `ahead`: a cold run is coming, so make its sandbox before it does.
[[noreturn]] void Serve(int socket, const Program& program, bool ahead);

}  // namespace igloo::jail
