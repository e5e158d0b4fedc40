#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "backend/backend.h"
#include "base/error.h"
#include "base/spawn.h"
#include "base/unique_fd.h"
#include "ops/ops.h"

namespace igloo::backend {

/// One packet from a reply socket.
struct ReceivedReply {
  ops::Reply reply = {};
  UniqueFd fd = {};
  bool end = false;  ///< end of file: igloo-init runs, or everything is gone
};

/// A running program of igloo's own that makes sandboxes: igloo-jail, or one that takes the same
/// requests. Start it from the thread that lives longest: it dies with it.
class Launcher {
 public:
  /// igloo-jail. `ahead`: a cold run follows at once, and its sandbox can be made while it is
  /// planned.
  static Result<Launcher> Start(const Programs& programs, bool ahead);
  /// Another one; it finds its requests on descriptor 3.
  static Result<Launcher> StartProgram(SpawnOptions options);

  /// The lists of a request, in the order of the plan; what a request does not need stays empty.
  struct Lists {
    std::string_view environment = {}, fresh = {}, run = {};
  };
  pid_t pid() const { return child_.pid(); }
  /// Sends one request; its lists follow the header. Blocks only while the launcher is busy.
  Result<void> Send(ops::Request request, const Lists& lists, std::span<const int> fds);
  /// End of file for it: it ends what it started, and itself.
  void HangUp() { socket_.Reset(); }

  Launcher(Launcher&&) = default;
  Launcher& operator=(Launcher&&) = default;
  /// Ends it, and waits: it reaps what it started, and nobody else has to.
  ~Launcher();

 private:
  Launcher(Child child, UniqueFd socket) : child_(std::move(child)), socket_(std::move(socket)) {}
  Child child_;
  UniqueFd socket_;
};

/// Reads one packet; an empty value when there is none yet and the socket does not block.
Result<std::optional<ReceivedReply>> ReceiveReply(int socket);

}  // namespace igloo::backend
