#pragma once

#include <gtest/gtest.h>

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <string>
#include <vector>

#include "boxed.h"

namespace igloo::testing {

/// A server outside, and what it answers.
class Client {
 public:
  explicit Client(const std::string& configuration = WebConfiguration(),
                  std::vector<std::string> options = {}, std::vector<std::string> variables = {})
      : server_(Serving(configuration, std::move(options), std::move(variables))) {
    instructions_ = boost::json::serialize(
        Ask("initialize", R"({"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":)"
                          R"({"name":"test","version":"1"}})"));
    server_.Write("{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}\n");
  }

  /// What it said of itself.
  const std::string& instructions() const { return instructions_; }
  std::string errors() { return server_.errors(); }
  /// Goes away, and waits until the server has ended.
  Outcome Leave() {
    server_.CloseInput();
    return server_.Finish();
  }
  pid_t pid() const { return server_.pid(); }

  /// Sends a request; its number.
  int Send(const std::string& method, const std::string& params) {
    server_.Write(R"({"jsonrpc":"2.0","id":)" + std::to_string(++last_) + R"(,"method":")" +
                  method + R"(","params":)" + params + "}\n");
    return last_;
  }
  boost::json::value AnswerTo(int id) {
    while (auto line = server_.NextLine()) {
      boost::json::value message = boost::json::parse(*line);
      const boost::json::value* answered = message.as_object().if_contains("id");
      if (answered != nullptr && *answered == id) return message;
    }
    ADD_FAILURE() << "no answer: " << server_.errors();
    return boost::json::object{};
  }
  boost::json::value Ask(const std::string& method, const std::string& params) {
    return AnswerTo(Send(method, params));
  }

  static std::string CallOf(const std::string& tool, boost::json::object arguments) {
    const boost::json::object call{{"name", tool}, {"arguments", std::move(arguments)}};
    return boost::json::serialize(call);
  }
  /// What a tool answers, as text.
  std::string Call(const std::string& tool, boost::json::object arguments) {
    return boost::json::serialize(Ask("tools/call", CallOf(tool, std::move(arguments))));
  }
  /// Code with a network.
  std::string Run(const std::string& environment, const std::string& code,
                  boost::json::object more = {}) {
    more["code"] = code;
    more["env"] = environment;
    return Call("run_connected", std::move(more));
  }

 private:
  static Invocation Serving(const std::string& configuration, std::vector<std::string> options,
                            std::vector<std::string> variables) {
    options.insert(options.begin(), {"mcp", "--config", configuration});
    return OutsideInvocation(std::move(options), std::move(variables));
  }

  Running server_;
  int last_ = 0;
  std::string instructions_ = {};
};

}  // namespace igloo::testing
