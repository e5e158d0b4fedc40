#pragma once

#include <string>
#include <vector>

#include "agent/sockets/ssh_protocol.h"

namespace igloo::agent {

/// A socket on which igloo answers a box in the place of a program of the host's: what may pass
/// goes on to that program, the rest is refused.
struct ServedSocket {
  enum class Protocol { kSshAgent, kGpgAgent, kNixDaemon };
  Protocol protocol = Protocol::kSshAgent;
  std::string path = {};  ///< outside: the box sees this socket
  /// The socket of the program; kNixDaemon: the program itself, one for each connection.
  std::string upstream = {};
  std::vector<SshKey> keys = {};  ///< kSshAgent: those that it may use
};

}  // namespace igloo::agent
