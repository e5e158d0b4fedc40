#include "support/mcp.h"

#include <gtest/gtest.h>

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>

namespace igloo::testing {

McpClient::McpClient(Options options)
    : running_({.program = options.program.contains('/') ? options.program
                                                         : BinDirectory() + "/" + options.program,
                .args = std::move(options.args),
                .env = std::move(options.env)}) {}

JsonObject McpClient::Initialize(std::string_view version) {
  JsonObject answer =
      Ask("initialize", {{"protocolVersion", version},
                         {"capabilities", JsonObject{}},
                         {"clientInfo", JsonObject{{"name", "test"}, {"version", "1"}}}});
  Notify("notifications/initialized");
  return answer.contains("result") ? answer["result"].as_object() : answer;
}

std::int64_t McpClient::Send(std::string_view method, JsonObject params) {
  const std::int64_t id = next_++;
  SendLine(boost::json::serialize(JsonObject{
      {"jsonrpc", "2.0"}, {"id", id}, {"method", method}, {"params", std::move(params)}}));
  return id;
}

void McpClient::Notify(std::string_view method, JsonObject params) {
  SendLine(boost::json::serialize(
      JsonObject{{"jsonrpc", "2.0"}, {"method", method}, {"params", std::move(params)}}));
}

bool McpClient::ReadOne() {
  const auto line = running_.NextLine();
  if (!line) return false;
  boost::system::error_code error;
  Json value = boost::json::parse(*line, error);
  if (error || !value.is_object()) {
    ADD_FAILURE() << "not a message: " << *line;
    return true;
  }
  JsonObject& message = value.as_object();
  const Json* id = message.if_contains("id");
  const bool answer = id != nullptr && id->is_int64() && !message.contains("method");
  if (answer) {
    answers_[id->as_int64()] = std::move(message);
  } else {
    others_.push_back(std::move(message));
  }
  return true;
}

JsonObject McpClient::Wait(std::int64_t id) {
  while (!answers_.contains(id)) {
    if (!ReadOne()) {
      ADD_FAILURE() << "no answer to " << id << "; " << running_.errors();
      return {};
    }
  }
  return std::move(answers_.extract(id).mapped());
}

std::optional<JsonObject> McpClient::NextOther() {
  while (others_.empty()) {
    if (!ReadOne()) return std::nullopt;
  }
  JsonObject message = std::move(others_.front());
  others_.pop_front();
  return message;
}

JsonObject McpClient::Ask(std::string_view method, JsonObject params) {
  return Wait(Send(method, std::move(params)));
}

JsonObject McpClient::Call(std::string_view tool, JsonObject arguments) {
  JsonObject answer = Ask("tools/call", {{"name", tool}, {"arguments", std::move(arguments)}});
  return answer.contains("result") ? answer["result"].as_object() : answer;
}

JsonObject McpClient::Run(std::string_view environment, std::string_view code, JsonObject more) {
  more["env"] = environment;
  more["code"] = code;
  return Call("run", std::move(more));
}

std::string TextOf(const JsonObject& result) {
  const Json* content = result.if_contains("content");
  if (content == nullptr) return boost::json::serialize(result);
  return std::string(content->at(0).at("text").as_string());
}

bool IsError(const JsonObject& result) {
  const Json* flag = result.if_contains("isError");
  return flag != nullptr && flag->as_bool();
}

JsonObject ModernMeta(JsonObject capabilities) {
  return {{"io.modelcontextprotocol/protocolVersion", "2026-07-28"},
          {"io.modelcontextprotocol/clientCapabilities", std::move(capabilities)}};
}

}  // namespace igloo::testing
