#pragma once

#include <boost/asio/awaitable.hpp>
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/cancellation.h"
#include "mcp/channel.h"
#include "mcp/json_rpc.h"
#include "mcp/types.h"

namespace igloo::mcp {

class Questions;

/// What a request says about itself, beside its parameters. Chosen by the client: for display and
/// for the protocol's own choices, never for what is allowed.
struct CallFacts {
  Dialect dialect = {};
  std::string client_name = {};
  JsonObject client_capabilities = {};
  std::optional<Json> progress_token = {};
  std::optional<LogLevel> log_level = {};  ///< empty: no messages are wanted
  JsonObject input_responses = {};         ///< answers to an earlier InputRequired
  std::string request_state = {};          ///< its state. SECURITY: may be anything
};

/// One request while a service works on it.
class Call {
 public:
  Call(CallFacts call_facts, std::shared_ptr<Channel> channel, std::shared_ptr<Questions> questions,
       std::chrono::milliseconds progress_interval);

  const CallFacts& facts() const { return facts_; }
  Cancellation& cancellation() { return cancellation_; }

  /// Tells how far it has come, if the client asked for it. Values that do not grow, and those that
  /// come too soon after the last, are left out.
  void Progress(double progress, std::optional<double> total = {}, std::string_view message = {});
  void Log(LogLevel level, std::string_view logger, Json data);

  /// "sampling", "elicitation", "roots".
  bool ClientHas(std::string_view capability) const;
  bool ClientHasExtension(std::string_view extension) const;

  /// Asks the client and waits for its answer: clients before 2026-07-28 only, the others are
  /// asked by InputRequired.
  boost::asio::awaitable<Answer<Json>> AskClient(std::string method, JsonObject params);

  /// The answers to what the service asked for, before it is asked again.
  void Answered(JsonObject responses, std::string state) {
    facts_.input_responses = std::move(responses);
    facts_.request_state = std::move(state);
  }
  /// Nothing is told after the answer.
  void Finish() { finished_ = true; }

 private:
  CallFacts facts_;
  std::shared_ptr<Channel> channel_;      // the dispatcher's, which other calls use too
  std::shared_ptr<Questions> questions_;  // likewise
  std::chrono::milliseconds interval_;
  Cancellation cancellation_ = {};
  std::optional<double> last_progress_ = {};
  std::chrono::steady_clock::time_point next_progress_ = {};
  bool finished_ = false;
};

/// The error for a call that needs what the client did not declare.
[[nodiscard]] std::unexpected<RpcError> MissingCapability(JsonObject required);

}  // namespace igloo::mcp
