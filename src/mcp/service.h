#pragma once

#include <boost/asio/awaitable.hpp>
#include <string>
#include <vector>

#include "mcp/call.h"
#include "mcp/json_rpc.h"
#include "mcp/types.h"

namespace igloo::mcp {

struct Method;

/// What a server serves. Lives on the event loop's thread and outlives every call.
///
/// Lists may change at any time; ServerCore tells clients when it is told. Until it is told,
/// `tools/list` may be answered as before; all other lists are asked for anew by every request. A
/// coroutine whose call is cancelled ends soon, whatever it returns: Call::cancellation() says
/// when. Its `Call&` stays valid until it has ended.
class Service {
 public:
  virtual ~Service() = default;

  virtual ServerInfo Info() const = 0;
  virtual Features Offers() const = 0;

  virtual std::vector<Tool> Tools() { return {}; }
  /// `request.name` is one of Tools(). What a tool could not do is a ToolResult with is_error.
  virtual boost::asio::awaitable<Answer<Outcome<ToolResult>>> Run(Call& call, ToolCall request);

  virtual std::vector<Resource> Resources() { return {}; }
  virtual std::vector<ResourceTemplate> ResourceTemplates() { return {}; }
  virtual boost::asio::awaitable<Answer<Outcome<std::vector<ResourceContents>>>> Read(
      Call& call, ReadResource request);

  virtual std::vector<Prompt> Prompts() { return {}; }
  /// `request.name` is one of Prompts(), and its required arguments are there.
  virtual boost::asio::awaitable<Answer<Outcome<PromptResult>>> Prepare(Call& call,
                                                                        GetPrompt request);

  /// A method that this layer does not know and the service answers itself; null: there is none.
  virtual const Method* OwnMethod(std::string_view) const { return nullptr; }
};

/// The answer of Service::Read for a URI that leads nowhere.
[[nodiscard]] std::unexpected<RpcError> ResourceNotFound(const std::string& uri);

/// A tool's own failure: `text` says what failed and what to do next.
ToolResult ToolFailure(std::string text);

}  // namespace igloo::mcp
