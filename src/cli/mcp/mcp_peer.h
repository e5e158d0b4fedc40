#pragma once

#include <boost/json/fwd.hpp>
#include <chrono>
#include <string>
#include <string_view>
#include <vector>

#include "base/spawn.h"

namespace igloo::cli {

/// A server that is spoken to as clients do: over its standard input and output, a line a message.
/// It ends when it is dropped.
class McpPeer {
 public:
  /// Starts `command` with this process's own environment; `state_home` is its XDG_STATE_HOME
  /// unless it is empty.
  static Result<McpPeer> Start(const std::vector<std::string>& command,
                               const std::string& state_home);
  McpPeer(McpPeer&&) noexcept = default;
  ~McpPeer();

  /// Sends a request and waits for its result. Everything else that comes is passed over. Fails
  /// when the server ends, answers with an error or with what is no message, or takes too long.
  Result<boost::json::object> Ask(std::string_view method, boost::json::object params,
                                  std::chrono::seconds patience);

 private:
  McpPeer() = default;
  Result<std::string> NextLine(std::chrono::steady_clock::time_point until);
  Error Gone();

  Child child_ = {};
  UniqueFd input_ = {}, output_ = {}, errors_ = {};
  std::string pending_ = {};  ///< came and is not taken yet
  std::string said_ = {};     ///< the end of what came on standard error
  int next_id_ = 1;
};

}  // namespace igloo::cli
