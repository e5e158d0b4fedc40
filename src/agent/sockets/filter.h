#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "base/error.h"

namespace igloo::agent {

/// Bytes that go on, in either direction.
struct Passed {
  std::string to_server = {}, to_client = {};
};

/// What stands between one connection of a box's and a program of the host's. Holds no descriptor
/// and waits for nothing; an error ends the connection.
/// SECURITY: both sides are untrusted: a message is bounded, and passes only if it is understood.
class SocketFilter {
 public:
  /// Hears what was done with the host's keys, and what was refused.
  using Note = std::function<void(std::string_view event, std::string_view what)>;

  SocketFilter() = default;
  SocketFilter(const SocketFilter&) = delete;
  SocketFilter& operator=(const SocketFilter&) = delete;
  virtual ~SocketFilter() = default;

  virtual Result<Passed> FromClient(std::string_view bytes) = 0;
  virtual Result<Passed> FromServer(std::string_view bytes) = 0;
};

}  // namespace igloo::agent
