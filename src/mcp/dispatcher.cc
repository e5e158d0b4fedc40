#include "mcp/dispatcher.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/overloaded.h"
#include "base/scope_exit.h"
#include "base/text.h"
#include "mcp/encode.h"
#include "mcp/pch.h"
#include "mcp/tasks.h"

namespace igloo::mcp {

namespace asio = boost::asio;
namespace json = boost::json;

namespace {

constexpr std::string_view kListen = "subscriptions/listen";
constexpr std::size_t kMostListeners = 64;

bool Serves(Eras eras, Era era) {
  return eras == Eras::kBoth || (eras == Eras::kModern) == (era == Era::kModern);
}

bool IsModernOnly(std::string_view name, const Method* method) {
  return name == kListen || (method != nullptr && method->eras == Eras::kModern);
}

/// Every result of 2026-07-28 says what kind it is and who gave it.
void Complete2026(JsonObject& result, bool cacheable, const ServerInfo& info) {
  if (!result.contains("resultType")) result["resultType"] = "complete";
  if (cacheable) {
    result["ttlMs"] = 0;
    result["cacheScope"] = "private";
  }
  json::value& meta = result["_meta"];
  if (!meta.is_object()) meta = JsonObject{};
  meta.get_object()[kServerInfoKey] = Encode(info, {Era::kModern, std::string(kModernVersion)});
}

std::string_view MethodOf(const Change& change) {
  return std::visit(
      Overloaded{[](const change::Tools&) { return "notifications/tools/list_changed"; },
                 [](const change::Prompts&) { return "notifications/prompts/list_changed"; },
                 [](const change::Resources&) { return "notifications/resources/list_changed"; },
                 [](const change::Updated&) { return "notifications/resources/updated"; },
                 [](const change::Task&) { return "notifications/tasks"; }},
      change);
}

bool Wants(const Filter& filter, const Change& change) {
  return std::visit(
      Overloaded{[&](const change::Tools&) { return filter.tools; },
                 [&](const change::Prompts&) { return filter.prompts; },
                 [&](const change::Resources&) { return filter.resources; },
                 [&](const change::Updated& c) { return filter.uris.contains(c.uri); },
                 [&](const change::Task& c) { return filter.tasks.contains(c.id); }},
      change);
}

bool DeclaresTasks(const CallFacts& facts) {
  const json::value* extensions = facts.client_capabilities.if_contains("extensions");
  return extensions != nullptr && extensions->is_object() &&
         extensions->get_object().contains(kTasksExtension);
}

}  // namespace

/// A call in progress, kept by the coroutine that serves it.
struct Dispatcher::Work {
  Work(Dispatcher& dispatcher, const Method& m, Request request, CallFacts facts, std::size_t size)
      : id(std::move(request.id)),
        method(m),
        bytes(size),
        call(std::move(facts), dispatcher.channel_, dispatcher.questions_,
             dispatcher.core_->options().progress_interval),
        context{dispatcher.core_->service(), dispatcher.core_->options(),
                dispatcher.state_->peer,     call,
                dispatcher.core_->tasks(),   std::move(request.params)} {}

  RequestId id;
  const Method& method;
  std::size_t bytes;
  Call call;
  Context context;
};

Dispatcher::Dispatcher(std::shared_ptr<ServerCore> core, std::shared_ptr<Channel> channel,
                       std::shared_ptr<ClientState> state, Hears hears)
    : core_(std::move(core)),
      channel_(std::move(channel)),
      questions_(core_->questions()),
      state_(std::move(state)),
      hears_(hears) {}

void Dispatcher::Receive(std::string_view message) {
  Receive(DecodeMessage(message), message.size());
}

void Dispatcher::Receive(Message message, std::size_t bytes, std::optional<Era> expected) {
  std::visit(Overloaded{[&](Request& request) { Begin(std::move(request), bytes, expected); },
                        [&](const Notification& notification) { Note(notification); },
                        [&](Response& response) { questions_->Resolve(std::move(response)); },
                        [&](const Refusal& refusal) { Reject(refusal); }},
             message);
}

void Dispatcher::Reject(const Refusal& refusal) {
  // With the id, the client would take it for the answer to the request that still runs.
  const bool in_use = refusal.id && InUse(*refusal.id);
  SendError(in_use ? std::nullopt : refusal.id, refusal.error);
}

bool Dispatcher::InUse(const RequestId& id) const {
  return state_->running.contains(id) || listening_.contains(id);
}

Answer<CallFacts> Dispatcher::FactsOf(const Request& request, const Method* method,
                                      std::optional<Era> expected) const {
  CallFacts facts;
  const bool modern = expected == Era::kModern || LooksModern(request.params) ||
                      IsModernOnly(request.method, method);
  if (modern) {
    auto decoded = DecodeModernFacts(request.params);
    if (!decoded) return decoded;
    facts = *std::move(decoded);
  } else {
    // Before `initialize`, lists and calls are answered all the same: nothing depends on it.
    const auto& default_level = core_->options().legacy_log_level;
    facts.log_level = state_->peer.log_level ? state_->peer.log_level : default_level;
    if (state_->peer.introduction) {
      facts.dialect.version = state_->peer.introduction->version;
      facts.client_name = state_->peer.introduction->client_name;
      facts.client_capabilities = state_->peer.introduction->capabilities;
    }
  }
  AddCommonFacts(request.params, facts);
  return facts;
}

void Dispatcher::Begin(Request request, std::size_t bytes, std::optional<Era> expected) {
  if (InUse(request.id)) {
    RpcError error{RpcCode::kInvalidRequest,
                   fmt::format("the id {} belongs to a request that is not answered yet",
                               Quoted(json::serialize(ToJson(request.id)))),
                   {}};
    return Reject({request.id, std::move(error)});
  }
  const Method* method = FindMethod(request.method);
  if (method == nullptr) method = core_->service().OwnMethod(request.method);
  auto facts = FactsOf(request, method, expected);
  if (!facts) return SendError(request.id, facts.error());
  const Dialect dialect = facts->dialect;
  if (request.method == kListen) return Listen(request, *facts);
  const Features features = core_->service().Offers();
  if (method == nullptr || !Serves(method->eras, dialect.era) ||
      (method->feature != nullptr && !(features.*method->feature))) {
    return SendError(request.id,
                     {RpcCode::kMethodNotFound, "Method not found: " + Quoted(request.method), {}});
  }
  if (method->name == "tools/call" && SpawnTask(request, *facts, bytes)) return;
  if (method->later != nullptr) {
    return Spawn(*method, std::move(request), *std::move(facts), bytes);
  }
  const bool kept = method->kept && !request.params.contains("cursor");
  const std::string* result = kept ? core_->KeptTools(dialect.version) : nullptr;
  if (result != nullptr) return SendResult(request.id, *result);
  Call call(*std::move(facts), channel_, questions_, core_->options().progress_interval);
  Context context{core_->service(), core_->options(),         state_->peer, call,
                  core_->tasks(),   std::move(request.params)};
  auto answer = method->now(context);
  if (!kept || !answer) return Send(request.id, dialect, method->cacheable, std::move(answer));
  std::string text = ResultText(dialect, method->cacheable, *std::move(answer));
  SendResult(request.id, text);
  core_->KeepTools(dialect.version, std::move(text));
}

void Dispatcher::Listen(const Request& request, const CallFacts& facts) {
  auto filter = DecodeFilter(request.params);
  if (filter && listening_.size() >= kMostListeners) {
    filter = Refuse(RpcCode::kBusy, "too many subscriptions; end some of them first");
  }
  if (filter && !filter->tasks.empty() && !DeclaresTasks(facts)) {
    filter = MissingCapability({{"extensions", JsonObject{{kTasksExtension, JsonObject{}}}}});
  }
  if (!filter) return Send(request.id, facts.dialect, false, std::unexpected(filter.error()));
  // What is not served is left out of what is agreed.
  const Features features = core_->service().Offers();
  filter->tools = filter->tools && features.tools && features.list_changes;
  filter->prompts = filter->prompts && features.prompts && features.list_changes;
  filter->resources = filter->resources && features.resources && features.list_changes;
  if (!features.subscriptions) filter->uris.clear();
  std::erase_if(filter->tasks, [&](const auto& id) { return core_->tasks().Find(id) == nullptr; });
  channel_->Send(
      Pack(NotificationMessage("notifications/subscriptions/acknowledged",
                               {{"_meta", JsonObject{{kSubscriptionKey, ToJson(request.id)}}},
                                {"notifications", Encode(*filter)}})));
  listening_.emplace(request.id, *std::move(filter));
}

void Dispatcher::Spawn(const Method& method, Request request, CallFacts facts, std::size_t bytes) {
  if (!core_->Admit(bytes)) {
    return Send(request.id, facts.dialect, false,
                Refuse(RpcCode::kBusy,
                       "too much is running already; wait for answers, or cancel some requests"));
  }
  auto work = std::make_unique<Work>(*this, method, std::move(request), std::move(facts), bytes);
  state_->running.emplace(work->id, work->call.cancellation());
  asio::co_spawn(core_->executor(), Serve(shared_from_this(), std::move(work)), asio::detached);
}

asio::awaitable<void> Dispatcher::Serve([[maybe_unused]] std::shared_ptr<Dispatcher> self,
                                        std::unique_ptr<Work> work) {
  const ScopeExit release([core = core_, bytes = work->bytes] { core->Release(bytes); });
  Answer<JsonObject> answer = Refuse(RpcCode::kInternalError, "the call did not end");
  try {
    co_await core_->backlog().WaitForRoom(work->call.cancellation());
    if (!work->call.cancellation().requested()) answer = co_await work->method.later(work->context);
  } catch (const std::exception& error) {
    answer = Refuse(RpcCode::kInternalError, fmt::format("the call failed: {}", error.what()));
  }
  work->call.Finish();
  // Nobody waits for a cancelled call, and its id may be in use again.
  if (work->call.cancellation().requested()) {
    channel_->Abandon();
    co_return;
  }
  state_->running.erase(work->id);
  Send(work->id, work->call.facts().dialect, work->method.cacheable, std::move(answer));
}

bool Dispatcher::SpawnTask(const Request& request, const CallFacts& facts, std::size_t bytes) {
  if (!core_->service().Offers().tasks || facts.dialect.era != Era::kModern) return false;
  auto call = DecodeToolCall(request.params);
  if (!DeclaresTasks(facts) || !call) return false;
  const std::vector<Tool> tools = core_->service().Tools();
  const auto tool = std::ranges::find(tools, call->name, &Tool::name);
  if (tool == tools.end() || tool->background == Background::kNever) return false;
  const auto task = core_->tasks().Create(
      *std::move(call), tool->background,
      Call(facts, channel_, questions_, core_->options().progress_interval), bytes);
  if (task == nullptr) return false;
  state_->running.emplace(request.id, task->call.cancellation());
  asio::co_spawn(core_->executor(), ServeTask(shared_from_this(), request.id, task),
                 asio::detached);
  return true;
}

asio::awaitable<void> Dispatcher::ServeTask([[maybe_unused]] std::shared_ptr<Dispatcher> self,
                                            RequestId id, std::shared_ptr<Task> task) {
  auto answer = co_await core_->tasks().FirstAnswer(task);
  task->call.Finish();
  if (task->call.cancellation().requested()) {
    channel_->Abandon();
    co_return;
  }
  state_->running.erase(id);
  if (task->promoted && hears_ == Hears::kChangesToo) tasks_.push_back(task->id);
  Send(id, task->call.facts().dialect, false, std::move(answer));
}

void Dispatcher::Send(const RequestId& id, const Dialect& dialect, bool cacheable,
                      Answer<JsonObject> answer) {
  if (!answer) return SendError(id, answer.error());
  SendResult(id, ResultText(dialect, cacheable, *std::move(answer)));
}

std::string Dispatcher::ResultText(const Dialect& dialect, bool cacheable,
                                   JsonObject result) const {
  if (dialect.era == Era::kModern) Complete2026(result, cacheable, core_->service().Info());
  return EncodeMessage(result);
}

void Dispatcher::SendError(const std::optional<RequestId>& id, const RpcError& error) {
  channel_->Send(PackError(id, error, core_->options().longest_answer));
}

void Dispatcher::SendResult(const RequestId& id, std::string_view result) {
  Outgoing packed = PackResult(id, result);
  const std::size_t limit = core_->options().longest_answer;
  if (packed.text.size() > limit) {
    return SendError(id, {RpcCode::kInternalError,
                          fmt::format("the answer has {} bytes, and at most {} can be sent; ask "
                                      "for less of it",
                                      packed.text.size(), limit),
                          {}});
  }
  if (!core_->backlog().Fits(packed.text.size())) {
    return SendError(id, {RpcCode::kBusy,
                          fmt::format("{} bytes of answers wait to be read already; read them, "
                                      "then ask again",
                                      core_->backlog().bytes()),
                          {}});
  }
  packed.share = core_->backlog().Take(packed.text.size());
  channel_->Send(std::move(packed));
}

void Dispatcher::Note(const Notification& notification) {
  // notifications/initialized asks for nothing, and what is unknown is ignored.
  if (notification.method != "notifications/cancelled") return;
  const json::value* given = notification.params.if_contains("requestId");
  if (const auto id = given != nullptr ? ToRequestId(*given) : std::nullopt) Cancel(*id);
}

void Dispatcher::Cancel(const RequestId& id) {
  listening_.erase(id);
  const auto found = state_->running.find(id);
  if (found == state_->running.end()) return;
  Cancellation cancellation = found->second;
  state_->running.erase(found);
  cancellation.Request();
}

void Dispatcher::Close() {
  for (const std::string& id : std::exchange(tasks_, {})) {
    if (const auto task = core_->tasks().Find(id)) core_->tasks().Cancel(*task);
  }
  listening_.clear();
  while (!state_->running.empty()) Cancel(RequestId(state_->running.begin()->first));
}

void Dispatcher::Tell(const Change& change) {
  const std::string_view method = MethodOf(change);
  JsonObject params;
  const auto* updated = std::get_if<change::Updated>(&change);
  if (updated != nullptr) params["uri"] = updated->uri;
  const auto* task = std::get_if<change::Task>(&change);
  if (task != nullptr) params = task->state;
  const bool told = task == nullptr && hears_ == Hears::kChangesToo && state_->peer.introduction;
  if (told && (updated == nullptr || state_->peer.uris.contains(updated->uri))) {
    channel_->Send(Pack(NotificationMessage(method, params)));
  }
  for (const auto& [id, filter] : listening_) {
    if (!Wants(filter, change)) continue;
    JsonObject tagged = params;
    tagged["_meta"] = JsonObject{{kSubscriptionKey, ToJson(id)}};
    Outgoing packed = Pack(NotificationMessage(method, std::move(tagged)));
    // Whoever waits for a task asks for it as well, and is told then that its result is too long.
    if (packed.text.size() <= core_->options().longest_answer) channel_->Send(std::move(packed));
  }
}

}  // namespace igloo::mcp
