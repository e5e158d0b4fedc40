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
#include "tools/runner.h"
#include "tools/sessions.h"
#include "tools/setup.h"
#include "tools/store.h"

namespace igloo::tools {

/// The environment of a call that named none that there is.
inline constexpr std::string_view kUnknownEnvironment = "unknown";

/// What is remembered of one call: who asked, for what, and how it came out.
struct Trace {
  std::chrono::system_clock::time_point came = {};
  std::string tool = {}, client = {};
  std::string environment = {}, session = {};
  std::string code = {};
  std::string verdict = "refused";  ///< a run's verdict; "refused" when there was none, or "failed"
  std::string error = {};           ///< why there was none
  std::optional<int> exit_code = {};
  std::int64_t queued_micros = 0, run_micros = 0;
  std::uint64_t cpu_micros = 0, peak_kib = 0, output_bytes = 0;
};

/// Environments that are still being made, beside the calls.
struct Making {
  /// Until the environment of this name or alias is made, or cannot be; at once if nobody makes it.
  /// Whoever waits hears the words of the one who works.
  std::function<boost::asio::awaitable<void>(
      std::string name, std::function<void(std::string_view line)> said, Cancellation cancellation)>
      wait = {};
  /// Until a setup's secrets for this environment were read, or cannot be.
  std::function<boost::asio::awaitable<void>(std::shared_ptr<const Setup> setup, std::string name,
                                             Cancellation cancellation)>
      secrets = {};
  /// The setup that counts now.
  std::function<std::shared_ptr<const Setup>()> setup = {};
};

/// What all contracts work with.
struct Workshop {
  Runner& runner;
  Sessions& sessions;
  Store& store;
  Making making = {};
};

/// Waits until the secrets of an environment are there, or cannot be had; other calls go on.
boost::asio::awaitable<void> AwaitSecrets(const Workshop& workshop, mcp::Call& call,
                                          std::shared_ptr<const Setup> setup,
                                          std::string environment);

/// The setup for a call in this environment. A client that can be told how it goes on waits for one
/// that is still being made; any other would only see time pass, and hears at once why it cannot be
/// used yet.
boost::asio::awaitable<std::shared_ptr<const Setup>> AwaitEnvironment(
    const Workshop& workshop, mcp::Call& call, std::shared_ptr<const Setup> setup,
    std::string_view environment, const Trace& trace);

/// Executes an order while the client hears that it goes on; the trace gets what came of it.
boost::asio::awaitable<Result<Finished>> Execute(const Workshop& workshop, mcp::Call& call,
                                                 Order order, Trace& trace);

/// The same in a session.
boost::asio::awaitable<Result<Finished>> Execute(const Workshop& workshop, mcp::Call& call,
                                                 Sessions::Asked asked, const Offered& environment,
                                                 std::shared_ptr<const Setup> setup, Trace& trace);

/// A set of tools with their own names, arguments and texts, over the same runs. Contracts do not
/// know each other.
class Contract {
 public:
  virtual ~Contract() = default;

  virtual std::vector<mcp::Tool> Tools(const Setup& setup) const = 0;
  /// `request.name` is one of Tools(setup). Fills in `trace` as far as it comes.
  virtual boost::asio::awaitable<mcp::Answer<mcp::ToolResult>> Run(
      mcp::Call& call, mcp::ToolCall request, std::shared_ptr<const Setup> setup, Trace& trace) = 0;
};

}  // namespace igloo::tools
