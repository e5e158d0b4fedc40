#include "tests/mcp/fixture_service.h"

#include <algorithm>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <functional>
#include <map>

#include "base/base64.h"

namespace igloo::mcp::fixture {

namespace asio = boost::asio;
namespace json = boost::json;

namespace {

using ToolAnswer = Answer<Outcome<ToolResult>>;

/// One pixel, and one sample of silence.
Blob Pixel() {
  return {FromBase64("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9"
                     "awAAAABJRU5ErkJggg==")
              .value_or("")};
}
Blob Silence() {
  return {FromBase64("UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAAB9AAACABAAZGF0YQIAAAA=").value_or("")};
}

ToolResult Show(std::vector<Content> blocks) {
  ToolResult result;
  result.content = std::move(blocks);
  return result;
}
ToolResult Say(std::string text) { return Show({content::Text{std::move(text)}}); }

Content Embedded(std::string uri, std::string mime_type, std::string text) {
  return content::Embedded{{std::move(uri), std::move(mime_type), std::move(text)}};
}

JsonObject Object(std::string_view text) { return json::parse(text).as_object(); }

/// Tools that need nothing but their name.
const std::map<std::string, std::function<ToolResult()>>& SimpleTools() {
  static const std::map<std::string, std::function<ToolResult()>> tools = {
      {"test_simple_text", [] { return Say("This is a simple text response for testing."); }},
      {"test_image_content", [] { return Show({content::Image{Pixel(), "image/png"}}); }},
      {"test_audio_content", [] { return Show({content::Audio{Silence(), "audio/wav"}}); }},
      {"test_embedded_resource",
       [] {
         return Show({Embedded("test://embedded-resource", "text/plain", "An embedded resource.")});
       }},
      {"test_multiple_content_types",
       [] {
         return Show({content::Text{"Several kinds of content:"},
                      content::Image{Pixel(), "image/png"},
                      Embedded("test://mixed-content-resource", "application/json",
                               R"({"test":"data","value":123})")});
       }},
      {"test_error_handling", [] { return ToolFailure("This tool fails on purpose."); }},
      {"json_schema_2020_12_tool", [] { return Say("done"); }},
      {"test_header_tool", [] { return Say("done"); }},
  };
  return tools;
}

constexpr std::string_view kOtherTools[] = {
    "test_tool_with_progress",   "test_tool_with_logging",
    "test_logging_tool",         "test_sampling",
    "test_elicitation",          "test_elicitation_sep1034_defaults",
    "test_missing_capability",   "test_elicitation_sep1330_enums",
    "test_trigger_tool_change",  "test_trigger_prompt_change",
    "test_streaming_elicitation"};

JsonObject SchemaOf(const std::string& tool) {
  if (tool == "json_schema_2020_12_tool") {
    return Object(R"({"$schema":"https://json-schema.org/draft/2020-12/schema","type":"object",
      "$defs":{"address":{"$anchor":"addressDef","type":"object",
        "properties":{"street":{"type":"string"},"city":{"type":"string"}}}},
      "properties":{"name":{"type":"string"},"address":{"$ref":"#/$defs/address"},
        "contactMethod":{"type":"string","enum":["phone","email"]},
        "phone":{"type":"string"},"email":{"type":"string"}},
      "allOf":[{"anyOf":[{"required":["phone"]},{"required":["email"]}]}],
      "if":{"properties":{"contactMethod":{"const":"phone"}},"required":["contactMethod"]},
      "then":{"required":["phone"]},"else":{"required":["email"]},
      "additionalProperties":false})");
  }
  if (tool == "test_sampling") {
    return Object(R"({"type":"object","properties":{"prompt":{"type":"string"}}})");
  }
  if (tool == "test_elicitation") {
    return Object(R"({"type":"object","properties":{"message":{"type":"string"}}})");
  }
  return {{"type", "object"}};
}

JsonObject ElicitationOf(const std::string& tool, const JsonObject& arguments) {
  if (tool == "test_elicitation_sep1034_defaults") {
    return Object(R"({"message":"Please look at these values","requestedSchema":{"type":"object",
      "properties":{"name":{"type":"string","default":"John Doe"},
        "age":{"type":"integer","default":30},"score":{"type":"number","default":95.5},
        "status":{"type":"string","enum":["active","inactive","pending"],"default":"active"},
        "verified":{"type":"boolean","default":true}},"required":[]}})");
  }
  if (tool == "test_elicitation_sep1330_enums") {
    return Object(R"({"message":"Please choose","requestedSchema":{"type":"object","properties":{
      "untitledSingle":{"type":"string","enum":["option1","option2","option3"]},
      "titledSingle":{"type":"string","oneOf":[{"const":"value1","title":"First Option"},
        {"const":"value2","title":"Second Option"},{"const":"value3","title":"Third Option"}]},
      "legacyEnum":{"type":"string","enum":["opt1","opt2","opt3"],
        "enumNames":["Option One","Option Two","Option Three"]},
      "untitledMulti":{"type":"array","items":{"type":"string",
        "enum":["option1","option2","option3"]}},
      "titledMulti":{"type":"array","items":{"anyOf":[{"const":"value1","title":"First Choice"},
        {"const":"value2","title":"Second Choice"},{"const":"value3","title":"Third Choice"}]}}},
      "required":[]}})");
  }
  JsonObject params = Object(R"({"requestedSchema":{"type":"object","properties":{
      "username":{"type":"string"},"email":{"type":"string"}},"required":["username","email"]}})");
  const Json* message = arguments.if_contains("message");
  params["message"] = message != nullptr && message->is_string() ? *message : Json("Please answer");
  return params;
}

asio::awaitable<ToolAnswer> Ask(Call& call, std::string tool, JsonObject arguments) {
  const bool samples = tool == "test_sampling";
  const std::string capability = samples ? "sampling" : "elicitation";
  if (!call.ClientHas(capability)) co_return MissingCapability({{capability, JsonObject{}}});
  std::string method = samples ? "sampling/createMessage" : "elicitation/create";
  JsonObject params;
  if (samples) {
    const Json* prompt = arguments.if_contains("prompt");
    params = Object(R"({"messages":[{"role":"user","content":{"type":"text"}}],"maxTokens":100})");
    params["messages"].at(0).at("content").as_object()["text"] =
        prompt != nullptr ? *prompt : Json("Hello");
  } else {
    params = ElicitationOf(tool, arguments);
  }
  auto answer = co_await call.AskClient(method, params);
  if (!answer) co_return ToolFailure("the client did not answer: " + answer.error().message);
  co_return Say("The client answered: " + json::serialize(*answer));
}

}  // namespace

asio::awaitable<void> Pause(Call& call, std::chrono::milliseconds time) {
  asio::steady_timer timer(co_await asio::this_coro::executor, time);
  const auto hook = call.cancellation().OnRequest([&] { timer.cancel(); });
  boost::system::error_code ignored;
  auto token = asio::redirect_error(asio::use_awaitable, ignored);
  if (!call.cancellation().requested()) co_await timer.async_wait(token);
}

ServerInfo FixtureService::Info() const {
  return {.name = "igloo-mcp-fixture",
          .version = IGLOO_VERSION,
          .title = "Fixtures of the conformance suite",
          .instructions = "For tests of the protocol."};
}

Features FixtureService::Offers() const {
  return {.tools = true,
          .resources = true,
          .prompts = true,
          .logging = true,
          .tasks = true,
          .subscriptions = true,
          .others = {{"completions", JsonObject{}}}};
}

std::vector<Tool> FixtureService::Tools() {
  std::vector<Tool> tools;
  const auto add = [&](std::string name) {
    Tool tool{.name = name, .description = "A fixture: " + name};
    tool.input_schema = SchemaOf(name);
    tools.push_back(std::move(tool));
  };
  for (const auto& [name, run] : SimpleTools()) add(name);
  for (const std::string_view name : kOtherTools) add(std::string(name));
  for (const Asking& tool : AskingTools()) add(tool.tool);
  for (const auto& [name, background] : TaskTools()) {
    add(name);
    tools.back().background = background;
  }
  return tools;
}

asio::awaitable<ToolAnswer> FixtureService::Run(Call& call, ToolCall request) {
  const auto simple = SimpleTools().find(request.name);
  if (simple != SimpleTools().end()) co_return simple->second();
  for (const Asking& tool : AskingTools()) {
    if (tool.tool == request.name) co_return RunAsking(call, tool);
  }
  if (TaskTools().contains(request.name)) {
    auto answer = co_await RunTask(call, request);
    co_return answer;
  }
  const auto pause = std::chrono::milliseconds(50);
  if (request.name == "test_tool_with_progress") {
    for (const double done : {0.0, 50.0, 100.0}) {
      call.Progress(done, 100.0, "step");
      co_await Pause(call, pause);
    }
  } else if (request.name.find("logging") != std::string::npos) {
    for (const char* text :
         {"Tool execution started", "Tool processing data", "Tool execution completed"}) {
      call.Log(LogLevel::kInfo, "fixture", text);
      co_await Pause(call, pause);
    }
  } else if (request.name == "test_trigger_tool_change") {
    if (const auto core = core_.lock()) core->Announce(change::Tools{});
  } else if (request.name == "test_trigger_prompt_change") {
    if (const auto core = core_.lock()) core->Announce(change::Prompts{});
  } else if (request.name == "test_missing_capability") {
    if (!call.ClientHas("sampling")) co_return MissingCapability({{"sampling", JsonObject{}}});
  } else if (call.facts().dialect.era == Era::kModern) {
    co_return RunAsking(call, AskingTools().front());
  } else {
    auto answer = co_await Ask(call, request.name, request.arguments);
    co_return answer;
  }
  co_return Say(request.name + " is done");
}

std::vector<Resource> FixtureService::Resources() {
  return {{.uri = "test://static-text", .name = "text", .mime_type = "text/plain"},
          {.uri = "test://static-binary", .name = "binary", .mime_type = "image/png"},
          {.uri = "test://watched-resource", .name = "watched", .mime_type = "text/plain"}};
}

std::vector<ResourceTemplate> FixtureService::ResourceTemplates() {
  return {{.uri_template = "test://template/{id}/data",
           .name = "template",
           .mime_type = "application/json"}};
}

asio::awaitable<Answer<Outcome<std::vector<ResourceContents>>>> FixtureService::Read(
    Call&, ReadResource request) {
  constexpr std::string_view kBefore = "test://template/", kAfter = "/data";
  std::vector<ResourceContents> contents;
  const std::string_view uri = request.uri;
  if (uri == "test://static-binary") {
    contents.push_back({request.uri, "image/png", Pixel()});
  } else if (uri == "test://static-text" || uri == "test://watched-resource") {
    contents.push_back({request.uri, "text/plain", "The text of a resource."});
  } else if (uri.starts_with(kBefore) && uri.ends_with(kAfter) &&
             uri.size() > kBefore.size() + kAfter.size()) {
    const std::string id(uri.substr(kBefore.size(), uri.size() - kBefore.size() - kAfter.size()));
    contents.push_back({request.uri, "application/json", json::serialize(JsonObject{{"id", id}})});
  } else {
    co_return ResourceNotFound(request.uri);
  }
  co_return contents;
}

std::vector<Prompt> FixtureService::Prompts() {
  const PromptArgument first{"arg1", "the first", true}, second{"arg2", "the second", true};
  return {{.name = "test_simple_prompt", .description = "A prompt"},
          {.name = "test_prompt_with_arguments",
           .description = "A prompt with arguments",
           .arguments = {first, second}},
          {.name = "test_prompt_with_embedded_resource",
           .description = "A prompt with a resource",
           .arguments = {{"resourceUri", "which resource", true}}},
          {.name = "test_prompt_with_image", .description = "A prompt with an image"},
          {.name = "test_input_required_result_prompt", .description = "A prompt that asks"}};
}

asio::awaitable<Answer<Outcome<PromptResult>>> FixtureService::Prepare(Call& call,
                                                                       GetPrompt request) {
  PromptResult result;
  const auto add = [&](Content content) {
    result.messages.push_back({Role::kUser, std::move(content)});
  };
  if (request.name == "test_prompt_with_arguments") {
    add(content::Text{"Prompt with arguments: arg1='" + request.arguments.at("arg1") + "', arg2='" +
                      request.arguments.at("arg2") + "'"});
  } else if (request.name == "test_prompt_with_embedded_resource") {
    add(Embedded(request.arguments.at("resourceUri"), "text/plain", "An embedded resource."));
  } else if (request.name == "test_prompt_with_image") {
    add(content::Image{Pixel(), "image/png"});
  } else if (request.name == "test_input_required_result_prompt" &&
             !call.facts().input_responses.contains("user_context")) {
    co_return InputRequired{
        {{"user_context", Object(R"({"method":"elicitation/create","params":{"mode":"form",
          "message":"Which context?","requestedSchema":{"type":"object",
          "properties":{"context":{"type":"string"}},"required":["context"]}}})")}},
        ""};
  }
  add(content::Text{"This is a prompt for testing."});
  co_return result;
}

}  // namespace igloo::mcp::fixture
