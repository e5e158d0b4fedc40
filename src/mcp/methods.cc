#include "mcp/methods.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "mcp/encode.h"
#include "mcp/page.h"
#include "mcp/pch.h"
#include "mcp/tasks.h"

namespace igloo::mcp {

namespace asio = boost::asio;
namespace json = boost::json;

namespace {

/// A client that subscribes to ever more resources is not served without end.
constexpr std::size_t kMostSubscriptions = 10'000;
constexpr std::size_t kLongestUri = 4096;

const Dialect& DialectOf(const Context& context) { return context.call.facts().dialect; }

Answer<JsonObject> Initialize(Context& context) {
  auto introduction = DecodeInitialize(context.params);
  if (!introduction) return std::unexpected(introduction.error());
  context.peer.introduction = *std::move(introduction);
  const Dialect dialect{Era::kLegacy, context.peer.introduction->version};
  const ServerInfo info = context.service.Info();
  JsonObject result{{"protocolVersion", dialect.version},
                    {"capabilities", Encode(context.service.Offers(), dialect)},
                    {"serverInfo", Encode(info, dialect)}};
  if (!info.instructions.empty()) result["instructions"] = info.instructions;
  return result;
}

Answer<JsonObject> Discover(Context& context) {
  const ServerInfo info = context.service.Info();
  JsonObject result{{"supportedVersions", json::array{kModernVersion}},
                    {"capabilities", Encode(context.service.Offers(), DialectOf(context))}};
  if (!info.instructions.empty()) result["instructions"] = info.instructions;
  return result;
}

Answer<JsonObject> Ping(Context&) { return JsonObject{}; }

Answer<JsonObject> SetLevel(Context& context) {
  auto level = DecodeLogLevel(context.params);
  if (!level) return std::unexpected(level.error());
  context.peer.log_level = *level;
  return JsonObject{};
}

/// Some clients read the first page only, so all tools are on it, in the service's order.
Answer<JsonObject> ListTools(Context& context) {
  if (context.params.contains("cursor")) {
    return Refuse(RpcCode::kInvalidParams, "all tools are on one page; ask without a cursor");
  }
  json::array tools;
  for (const Tool& tool : context.service.Tools()) {
    tools.push_back(Encode(tool, DialectOf(context)));
  }
  return JsonObject{{"tools", std::move(tools)}};
}

template <class T>
Answer<JsonObject> ListPage(Context& context, std::string_view name, std::vector<T> all,
                            std::string T::* key) {
  auto cursor = DecodeCursor(context.params);
  if (!cursor) return std::unexpected(cursor.error());
  auto page = CutPage(std::move(all), key, *cursor, context.options.page_size);
  if (!page) return std::unexpected(page.error());
  json::array items;
  for (const T& item : page->items) items.push_back(Encode(item, DialectOf(context)));
  JsonObject result{{name, std::move(items)}};
  if (!page->next.empty()) result["nextCursor"] = page->next;
  return result;
}

Answer<JsonObject> ListResources(Context& context) {
  return ListPage(context, "resources", context.service.Resources(), &Resource::uri);
}

Answer<JsonObject> ListTemplates(Context& context) {
  return ListPage(context, "resourceTemplates", context.service.ResourceTemplates(),
                  &ResourceTemplate::uri_template);
}

Answer<JsonObject> ListPrompts(Context& context) {
  return ListPage(context, "prompts", context.service.Prompts(), &Prompt::name);
}

Answer<JsonObject> Subscribe(Context& context) {
  auto uri = DecodeText(context.params, "uri");
  if (!uri) return std::unexpected(uri.error());
  if (uri->size() > kLongestUri) {
    return Refuse(RpcCode::kInvalidParams,
                  fmt::format("'uri' must have at most {} bytes", kLongestUri));
  }
  if (context.peer.uris.size() >= kMostSubscriptions) {
    return Refuse(RpcCode::kBusy, "too many subscriptions; end some of them first");
  }
  context.peer.uris.insert(*std::move(uri));
  return JsonObject{};
}

Answer<JsonObject> Unsubscribe(Context& context) {
  auto uri = DecodeText(context.params, "uri");
  if (!uri) return std::unexpected(uri.error());
  context.peer.uris.erase(*uri);
  return JsonObject{};
}

template <class T>
Answer<JsonObject> EncodeOutcome(const Context& context, const Answer<Outcome<T>>& outcome) {
  if (!outcome) return std::unexpected(outcome.error());
  const bool asks = std::holds_alternative<InputRequired>(*outcome);
  if (asks && DialectOf(context).era != Era::kModern) {
    return Refuse(RpcCode::kInternalError,
                  "this needs an answer of the user's, which this client cannot be asked for");
  }
  return std::visit([&](const auto& one) { return Encode(one, DialectOf(context)); }, *outcome);
}

Answer<void> KnowsTasks(const Context& context) {
  if (context.call.ClientHasExtension(kTasksExtension)) return {};
  return MissingCapability({{"extensions", JsonObject{{kTasksExtension, JsonObject{}}}}});
}

/// The task that a request is about, for clients that know tasks.
Answer<std::shared_ptr<Task>> TaskOf(Context& context) {
  if (auto known = KnowsTasks(context); !known) return std::unexpected(known.error());
  auto id = DecodeText(context.params, "taskId");
  if (!id) return std::unexpected(id.error());
  auto task = context.tasks.Find(*id);
  if (task == nullptr) {
    return Refuse(RpcCode::kInvalidParams,
                  "there is no task '" + Quoted(*id) + "', or not any more");
  }
  return task;
}

Answer<JsonObject> GetTask(Context& context) {
  auto task = TaskOf(context);
  if (!task) return std::unexpected(task.error());
  return context.tasks.Describe(**task);
}

Answer<JsonObject> UpdateTask(Context& context) {
  auto task = TaskOf(context);
  if (!task) return std::unexpected(task.error());
  const Json* answers = context.params.if_contains("inputResponses");
  if (answers == nullptr || !answers->is_object()) {
    return Refuse(RpcCode::kInvalidParams, "'inputResponses' is required and must be an object");
  }
  context.tasks.Update(**task, answers->get_object());
  return JsonObject{};
}

Answer<JsonObject> CancelTask(Context& context) {
  auto task = TaskOf(context);
  if (!task) return std::unexpected(task.error());
  context.tasks.Cancel(**task);
  return JsonObject{};
}

asio::awaitable<Answer<JsonObject>> CallTool(Context& context) {
  auto request = DecodeToolCall(context.params);
  if (!request) co_return std::unexpected(request.error());
  const std::vector<Tool> tools = context.service.Tools();
  const auto tool = std::ranges::find(tools, request->name, &Tool::name);
  if (tool == tools.end()) {
    co_return Refuse(RpcCode::kInvalidParams, "Unknown tool: " + Quoted(request->name));
  }
  // Who can have a task has been served elsewhere.
  if (tool->background == Background::kOnly) {
    if (auto known = KnowsTasks(context); !known) co_return std::unexpected(known.error());
  }
  ToolCall call = *std::move(request);
  auto outcome = co_await context.service.Run(context.call, call);
  co_return EncodeOutcome(context, outcome);
}

asio::awaitable<Answer<JsonObject>> ReadOne(Context& context) {
  auto request = DecodeReadResource(context.params);
  if (!request) co_return std::unexpected(request.error());
  ReadResource read = *std::move(request);
  auto outcome = co_await context.service.Read(context.call, read);
  co_return EncodeOutcome(context, outcome);
}

asio::awaitable<Answer<JsonObject>> PreparePrompt(Context& context) {
  auto request = DecodeGetPrompt(context.params);
  if (!request) co_return std::unexpected(request.error());
  const std::vector<Prompt> prompts = context.service.Prompts();
  const auto prompt = std::ranges::find(prompts, request->name, &Prompt::name);
  if (prompt == prompts.end()) {
    co_return Refuse(RpcCode::kInvalidParams, "Unknown prompt: " + Quoted(request->name));
  }
  for (const PromptArgument& argument : prompt->arguments) {
    if (argument.required && !request->arguments.contains(argument.name)) {
      co_return Refuse(RpcCode::kInvalidParams,
                       "the prompt needs the argument '" + argument.name + "'");
    }
  }
  GetPrompt get = *std::move(request);
  auto outcome = co_await context.service.Prepare(context.call, get);
  co_return EncodeOutcome(context, outcome);
}

constexpr Method kMethods[] = {
    {.name = "initialize", .eras = Eras::kLegacy, .now = Initialize},
    {.name = "ping", .eras = Eras::kLegacy, .now = Ping},
    {.name = "logging/setLevel",
     .eras = Eras::kLegacy,
     .feature = &Features::logging,
     .now = SetLevel},
    {.name = "server/discover", .eras = Eras::kModern, .cacheable = true, .now = Discover},
    {.name = "tools/list",
     .feature = &Features::tools,
     .cacheable = true,
     .kept = true,
     .now = ListTools},
    {.name = "tools/call", .feature = &Features::tools, .later = CallTool},
    {.name = "resources/list",
     .feature = &Features::resources,
     .cacheable = true,
     .now = ListResources},
    {.name = "resources/templates/list",
     .feature = &Features::resources,
     .cacheable = true,
     .now = ListTemplates},
    {.name = "resources/read", .feature = &Features::resources, .later = ReadOne},
    {.name = "resources/subscribe",
     .eras = Eras::kLegacy,
     .feature = &Features::subscriptions,
     .now = Subscribe},
    {.name = "resources/unsubscribe",
     .eras = Eras::kLegacy,
     .feature = &Features::subscriptions,
     .now = Unsubscribe},
    {.name = "prompts/list", .feature = &Features::prompts, .cacheable = true, .now = ListPrompts},
    {.name = "prompts/get", .feature = &Features::prompts, .later = PreparePrompt},
    {.name = "tasks/get", .eras = Eras::kModern, .feature = &Features::tasks, .now = GetTask},
    {.name = "tasks/update", .eras = Eras::kModern, .feature = &Features::tasks, .now = UpdateTask},
    {.name = "tasks/cancel", .eras = Eras::kModern, .feature = &Features::tasks, .now = CancelTask},
};

}  // namespace

const Method* FindMethod(std::string_view name) {
  const auto* found = std::ranges::find(kMethods, name, &Method::name);
  return found != std::end(kMethods) ? found : nullptr;
}

}  // namespace igloo::mcp
