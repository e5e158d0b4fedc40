#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>

#include "base/random.h"
#include "base/sha256.h"
#include "tests/mcp/fixture_service.h"

namespace igloo::mcp::fixture {

namespace {

/// A form with one field.
JsonObject Form(std::string_view message, std::string_view field, std::string_view type) {
  return {{"method", "elicitation/create"},
          {"params",
           JsonObject{{"mode", "form"},
                      {"message", message},
                      {"requestedSchema",
                       JsonObject{{"type", "object"},
                                  {"properties", JsonObject{{field, JsonObject{{"type", type}}}}},
                                  {"required", boost::json::array{field}}}}}}};
}

JsonObject Sampling(std::string_view text) {
  const JsonObject content{{"type", "text"}, {"text", text}};
  const JsonObject message{{"role", "user"}, {"content", content}};
  return {{"method", "sampling/createMessage"},
          {"params", JsonObject{{"messages", boost::json::array{message}}, {"maxTokens", 100}}}};
}

JsonObject Roots() { return {{"method", "roots/list"}, {"params", JsonObject{}}}; }

/// Which capability a request needs.
std::string_view Needs(const Json& request) {
  const std::string_view method = request.at("method").as_string();
  if (method == "roots/list") return "roots";
  return method == "elicitation/create" ? "elicitation" : "sampling";
}

std::string Sign(const std::string& text) {
  static const std::string secret = RandomName();
  return text + "." + Sha256Hex(secret + text);
}

bool Signed(const std::string& state, const std::string& text) { return state == Sign(text); }

ToolResult Text(std::string text) {
  ToolResult result;
  result.content.emplace_back(content::Text{std::move(text)});
  return result;
}

}  // namespace

const std::vector<Asking>& AskingTools() {
  static const std::vector<Asking> tools = {
      {"test_input_required_result_elicitation",
       {{"user_name", Form("What is your name?", "name", "string")}}},
      {"test_input_required_result_sampling",
       {{"capital_question", Sampling("What is the capital of France?")}}},
      {"test_input_required_result_list_roots", {{"client_roots", Roots()}}},
      {"test_input_required_result_request_state",
       {{"confirm", Form("Please confirm", "ok", "boolean")}},
       true},
      {"test_input_required_result_multiple_inputs",
       {{"user_name", Form("What is your name?", "name", "string")},
        {"greeting", Sampling("Say hello")},
        {"client_roots", Roots()}},
       true},
      {"test_input_required_result_multi_round",
       {{"step1", Form("Step 1: your name?", "name", "string")}},
       true},
      {"test_input_required_result_tampered_state",
       {{"confirm", Form("Please confirm", "ok", "boolean")}},
       true},
      {"test_input_required_result_capabilities",
       {{"ask", Form("What is your name?", "name", "string")},
        {"sample", Sampling("Say hello")},
        {"roots", Roots()}}},
  };
  return tools;
}

Answer<Outcome<ToolResult>> RunAsking(Call& call, const Asking& tool) {
  const std::string& state = call.facts().request_state;
  const std::string first = tool.tool + " 1", second = tool.tool + " 2";
  const bool rounds = tool.tool == "test_input_required_result_multi_round";
  const bool in_second = rounds && Signed(state, second);
  if (tool.keeps_state && !state.empty() && !Signed(state, first) && !in_second) {
    return Refuse(RpcCode::kInvalidParams, "'requestState' is not one of this server's");
  }
  InputRequired needed{tool.requests, tool.keeps_state ? Sign(first) : ""};
  // A client is asked only for what it can answer.
  for (const auto& [key, request] : tool.requests) {
    if (!call.ClientHas(Needs(request))) needed.requests.erase(key);
  }
  const JsonObject& answers = call.facts().input_responses;
  const bool to_second = rounds && Signed(state, first) && answers.contains("step1");
  if (to_second || (in_second && !answers.contains("step2"))) {
    return InputRequired{{{"step2", Form("Step 2: your colour?", "color", "string")}},
                         Sign(second)};
  }
  bool complete = in_second || !answers.empty();
  for (const auto& [key, request] : needed.requests) {
    complete = complete && (in_second || answers.contains(key));
  }
  if (tool.keeps_state && state.empty()) complete = false;
  if (!complete) return needed;
  return Text("state-ok: " + boost::json::serialize(answers));
}

}  // namespace igloo::mcp::fixture
