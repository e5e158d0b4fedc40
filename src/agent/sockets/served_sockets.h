#pragma once

#include <boost/asio/io_context.hpp>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "agent/sockets/served_socket.h"
#include "base/error.h"
#include "base/spawn.h"
#include "base/unique_fd.h"

namespace igloo::agent {

/// The sockets on which igloo answers a box. They are there as soon as they are open, so that a
/// plan can name them; they are answered while a loop runs that serves them.
class ServedSockets {
 public:
  /// Hears what was done with the keys behind a socket, and what was refused.
  using Note = std::function<void(ServedSocket::Protocol protocol, std::string_view event,
                                  std::string_view what)>;

  /// SECURITY: every user may connect to them, because a box of root's has an id of its own: their
  /// directory is closed to all but this user, and each is shown to one box only.
  static Result<std::unique_ptr<ServedSockets>> Open(const std::vector<ServedSocket>& sockets);
  ~ServedSockets();

  /// Answers from now on, while `loop` runs, which must end first.
  void Serve(boost::asio::io_context& loop, Note note);

 private:
  struct Socket;
  ServedSockets();
  std::vector<std::shared_ptr<Socket>> sockets_;
};

/// Connects to a program of the host's.
Result<UniqueFd> ConnectTo(const std::string& socket);

/// Starts a Nix daemon for one client, which does not trust it. For root alone: a user's own would
/// pass everything on to the machine's daemon, and that knows the user.
Result<Child> StartNixRelay(const std::string& nix, int client);

/// The keys that the agent behind a socket has. Waits a few seconds at most.
Result<std::vector<SshKey>> ListSshKeys(const std::string& socket);

}  // namespace igloo::agent
