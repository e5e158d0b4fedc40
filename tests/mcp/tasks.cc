#include <boost/json/serialize.hpp>

#include "tests/mcp/fixture_service.h"

namespace igloo::mcp::fixture {

namespace asio = boost::asio;

namespace {

Json Confirm(std::string_view message) {
  const JsonObject fields{{"name", JsonObject{{"type", "string"}}},
                          {"confirm", JsonObject{{"type", "boolean"}}}};
  return JsonObject{
      {"method", "elicitation/create"},
      {"params",
       JsonObject{{"mode", "form"},
                  {"message", message},
                  {"requestedSchema", JsonObject{{"type", "object"}, {"properties", fields}}}}}};
}

ToolResult Say(std::string text) {
  ToolResult result;
  result.content.emplace_back(content::Text{std::move(text)});
  return result;
}

double Seconds(const JsonObject& arguments) {
  const Json* seconds = arguments.if_contains("seconds");
  return seconds != nullptr && seconds->is_number() ? seconds->to_number<double>() : 0;
}

}  // namespace

const std::map<std::string, Background>& TaskTools() {
  static const std::map<std::string, Background> tools = {
      {"greet", Background::kNever},
      {"slow_compute", Background::kAlways},
      {"failing_job", Background::kOnly},
      {"protocol_error_job", Background::kAlways},
      {"confirm_delete", Background::kAlways},
      {"multi_input", Background::kAlways},
      {"test_tool_with_task", Background::kOnly},
  };
  return tools;
}

asio::awaitable<Answer<Outcome<ToolResult>>> RunTask(Call& call, ToolCall request) {
  const JsonObject& answers = call.facts().input_responses;
  const std::string said = boost::json::serialize(answers);
  if (request.name == "greet") {
    const Json* name = request.arguments.if_contains("name");
    const bool named = name != nullptr && name->is_string();
    co_return Say("Hello, " + std::string(named ? name->as_string() : "you") + "!");
  }
  if (request.name == "slow_compute") {
    const std::chrono::duration<double> time(Seconds(request.arguments));
    co_await Pause(call, std::chrono::duration_cast<std::chrono::milliseconds>(time));
    co_return Say("computed");
  }
  if (request.name == "failing_job") co_return ToolFailure("this job fails on purpose");
  if (request.name == "protocol_error_job") {
    co_return Refuse(RpcCode::kInternalError, "this job breaks on purpose");
  }
  InputRequired needed;
  if (request.name == "confirm_delete" && !answers.contains("confirm")) {
    needed.requests["confirm"] = Confirm("Delete it?");
  }
  if (request.name == "multi_input") {
    for (const char* key : {"first", "second"}) {
      if (!answers.contains(key)) needed.requests[key] = Confirm(key);
    }
  }
  if (request.name == "test_tool_with_task" && !answers.contains("user_name")) {
    needed.requests["user_name"] = Confirm("What is your name?");
  }
  if (!needed.requests.empty()) co_return needed;
  co_return Say("done with " + said);
}

}  // namespace igloo::mcp::fixture
