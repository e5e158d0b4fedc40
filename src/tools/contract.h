#pragma once

#include <boost/asio/awaitable.hpp>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "mcp/call.h"
#include "mcp/json_rpc.h"
#include "mcp/types.h"
#include "service/making.h"
#include "service/output_store.h"
#include "service/runner.h"
#include "service/sessions.h"
#include "service/setup.h"
#include "service/trace.h"

namespace igloo::tools {

/// The environment of a call that named none that there is.
inline constexpr std::string_view kUnknownEnvironment = "unknown";

/// What all contracts work with.
struct Workshop {
  service::Runner& runner;
  service::Sessions& sessions;
  service::OutputStore& store;
  service::Making making = {};
};

/// Waits until the secrets of an environment are there, or cannot be had; other calls go on.
boost::asio::awaitable<void> AwaitSecrets(const Workshop& workshop, mcp::Call& call,
                                          std::shared_ptr<const service::Setup> setup,
                                          std::string environment);

/// The setup for a call in this environment. A client that can be told how it goes on waits for one
/// that is still being made; any other would only see time pass, and hears at once why it cannot be
/// used yet.
boost::asio::awaitable<std::shared_ptr<const service::Setup>> AwaitEnvironment(
    const Workshop& workshop, mcp::Call& call, std::shared_ptr<const service::Setup> setup,
    std::string_view environment, const service::Trace& trace);

/// Executes an order while the client hears that it goes on; the trace gets what came of it.
boost::asio::awaitable<Result<service::Finished>> Execute(const Workshop& workshop, mcp::Call& call,
                                                          service::Order order,
                                                          service::Trace& trace);

/// The same in a session.
boost::asio::awaitable<Result<service::Finished>> Execute(
    const Workshop& workshop, mcp::Call& call, service::Sessions::Asked asked,
    const service::Offered& environment, std::shared_ptr<const service::Setup> setup,
    service::Trace& trace);

/// A set of tools with their own names, arguments and texts, over the same runs. Contracts do not
/// know each other.
class Contract {
 public:
  virtual ~Contract() = default;

  virtual std::vector<mcp::Tool> Tools(const service::Setup& setup) const = 0;
  /// `request.name` is one of Tools(setup). Fills in `trace` as far as it comes.
  virtual boost::asio::awaitable<mcp::Answer<mcp::ToolResult>> Run(
      mcp::Call& call, mcp::ToolCall request, std::shared_ptr<const service::Setup> setup,
      service::Trace& trace) = 0;
};

}  // namespace igloo::tools
