#pragma once

#include <boost/json/fwd.hpp>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "mcp/backlog.h"
#include "mcp/json_rpc.h"

namespace igloo::mcp {

/// A message on its way out.
struct Outgoing {
  std::string text = {};  ///< one line without its end
  bool answer = false;    ///< the last word on a request
  std::optional<RpcCode> error = {};
  Backlog::Share share = {};  ///< to be kept until it is written
};
Outgoing Pack(const boost::json::object& message);
/// An error in at most about `limit` bytes: what is longer loses its data and most of its words.
Outgoing PackError(const std::optional<RequestId>& id, const RpcError& error, std::size_t limit);
/// An answer whose result is encoded already.
Outgoing PackResult(const RequestId& id, std::string_view result);

/// Where messages to a client go: a pipe, or the stream that answers one HTTP request.
class Channel {
 public:
  virtual ~Channel() = default;

  /// Queues a message; never waits. What comes after a closed channel is dropped.
  virtual void Send(Outgoing message) = 0;
  /// The client reads more slowly than it is told things: what is merely nice to know is left out.
  virtual bool congested() const = 0;
  /// A request on this channel was cancelled: its answer will not come.
  virtual void Abandon() {}
};

}  // namespace igloo::mcp
