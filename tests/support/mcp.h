#pragma once

#include <boost/json/object.hpp>
#include <boost/json/value.hpp>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "support/running.h"

namespace igloo::testing {

using Json = boost::json::value;
using JsonObject = boost::json::object;

/// A client of `igloo mcp` on its standard input and output. Every line that the server writes must
/// be JSON; anything else fails the test.
class McpClient {
 public:
  struct Options {
    std::string program = "igloo";  ///< or another of its names, or a whole path
    std::vector<std::string> args = {"mcp"};
    std::vector<std::string> env = UsualVariables();
  };
  McpClient() : McpClient(Options{}) {}
  explicit McpClient(Options options);

  /// The legacy handshake; its result.
  JsonObject Initialize(std::string_view version = "2025-11-25");

  /// Sends a request, and answers with its id.
  std::int64_t Send(std::string_view method, JsonObject params = {});
  void Notify(std::string_view method, JsonObject params = {});
  void SendLine(std::string_view line) { running_.Write(std::string(line) + "\n"); }

  /// The whole answer to a request, with "result" or "error"; empty when none comes.
  JsonObject Wait(std::int64_t id);
  /// The next message that answers nothing that was sent by Send.
  std::optional<JsonObject> NextOther();
  JsonObject Ask(std::string_view method, JsonObject params = {});

  /// Calls a tool: its result, or the error as {"error": ...}.
  JsonObject Call(std::string_view tool, JsonObject arguments);
  JsonObject Run(std::string_view environment, std::string_view code, JsonObject more = {});

  Running& running() { return running_; }

 private:
  bool ReadOne();

  Running running_;
  std::int64_t next_ = 1;
  std::map<std::int64_t, JsonObject> answers_ = {};
  std::deque<JsonObject> others_ = {};
};

/// The text of a tool's result.
std::string TextOf(const JsonObject& result);
bool IsError(const JsonObject& result);

/// `"_meta"` of a request of the era without handshakes.
JsonObject ModernMeta(JsonObject capabilities = {});

}  // namespace igloo::testing
