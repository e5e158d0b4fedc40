#pragma once

#include <boost/asio/io_context.hpp>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/unique_fd.h"
#include "base/unix_listener.h"
#include "service/local_server.h"

namespace igloo::agent {

/// What others of this user can ask of a box that runs.
struct BoxActions {
  /// Starts a program in it, on this terminal; `ended` hears its exit code or why there is none.
  std::function<void(const std::vector<std::string>& argv, UniqueFd terminal,
                     std::function<void(Result<int>)> ended)>
      enter;
  /// Stops all of its processes, or lets them go on.
  std::function<Result<void>()> pause, resume;
};

/// The socket of a box, beside its lock. A request is one line of JSON: {"do": "enter", "argv":
/// [...]} with the terminal as a descriptor, {"do": "pause"} or {"do": "resume"}. The answer is one
/// line, {"exit": N} or {"error": {"what", "hint"}}. One request a connection. SECURITY: the socket
/// is 0600 in a directory of mode 0700, and the kernel says who calls.
class BoxControl {
 public:
  /// `actions` are called on the loop; all of them outlive it.
  static Result<std::unique_ptr<BoxControl>> Open(boost::asio::io_context& loop,
                                                  const std::string& path, BoxActions actions);

 private:
  BoxControl(boost::asio::io_context& loop, UnixListener listener,
             service::LocalServer::Serve serve)
      : server_(loop, std::move(listener), std::move(serve)) {}

  service::LocalServer server_;
};

/// Asks the box behind a socket to start a program on a terminal. What comes back can be read when
/// there is an answer.
Result<UniqueFd> AskToEnter(const std::string& path, const std::vector<std::string>& argv,
                            int terminal);
/// The answer, once it can be read.
Result<int> ReadExit(int connection);
/// Asks it for something else, and waits until that is done: "pause", "resume".
Result<void> AskFor(const std::string& path, std::string_view what);

}  // namespace igloo::agent
