#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <map>
#include <memory>
#include <string>

#include "base/cancellation.h"
#include "mcp/channel.h"
#include "mcp/json_rpc.h"
#include "mcp/types.h"

namespace igloo::mcp {

/// Requests from the server to its clients that are not answered yet. They belong to the protocol
/// and not to its test fixture, although no tool of igloo asks yet: the conformance suite wants
/// them of whoever implements it, and only the dispatcher sees the answers.
class Questions {
 public:
  Questions();

  /// Ends with the client's answer, or with an error when the call is cancelled.
  boost::asio::awaitable<Answer<Json>> Ask(Channel& channel, Cancellation cancellation,
                                           std::string method, JsonObject params);
  /// False when nobody asked, or somebody else answered before.
  bool Resolve(Response response);

 private:
  struct Waiting;

  // SECURITY: a client over HTTP answers on a connection of its own, so the id is what binds an
  // answer to its question, and nobody else can guess it.
  std::string secret_;
  std::uint64_t next_ = 1;
  std::map<RequestId, std::shared_ptr<Waiting>> waiting_ = {};  // shared with who waits
};

}  // namespace igloo::mcp
