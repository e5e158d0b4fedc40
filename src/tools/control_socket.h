#pragma once

#include <boost/asio/io_context.hpp>
#include <memory>
#include <string>

#include "base/error.h"
#include "base/unique_fd.h"
#include "service/local_server.h"
#include "tools/session_control.h"

namespace igloo::tools {

/// A socket in the state directory on which the server's user reaches its sessions. One request a
/// connection, one line of JSON; answers are lines until the server closes it. Who goes away before
/// has changed their mind: what they asked for is stopped.
/// SECURITY: the socket is 0600 in a directory of mode 0700, and the kernel says who calls.
class ControlSocket {
 public:
  /// Where the sockets of all servers of this user are.
  static std::string DirectoryIn(const std::string& state) { return state + "/sessions"; }
  static constexpr std::string_view kEnding = ".sock";

  /// Takes the place of what an ended process of the same number left. `control` outlives it.
  static Result<std::unique_ptr<ControlSocket>> Open(boost::asio::io_context& loop,
                                                     const std::string& state,
                                                     service::SessionControl& control);

 private:
  ControlSocket(boost::asio::io_context& loop, UnixListener listener,
                service::LocalServer::Serve serve)
      : server_(loop, std::move(listener), std::move(serve)) {}

  service::LocalServer server_;
};

/// Held by whoever makes a socket in that directory, or removes one that nobody listens on: between
/// its name and its first client, a new one looks like an old one.
Result<UniqueFd> LockSockets(const std::string& directory);

/// A request is at most this long.
inline constexpr std::size_t kLongestRequest = 4U << 20;

}  // namespace igloo::tools
