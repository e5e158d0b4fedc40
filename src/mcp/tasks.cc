#include "mcp/tasks.h"

#include <fmt/format.h>

#include <ctime>

#include "base/random.h"
#include "base/scope_exit.h"
#include "mcp/encode.h"
#include "mcp/pch.h"
#include "mcp/server_core.h"

namespace igloo::mcp {

namespace asio = boost::asio;
using Clock = std::chrono::steady_clock;

namespace {

std::string_view Name(TaskStatus status) {
  constexpr std::string_view kNames[] = {"working", "input_required", "completed", "failed",
                                         "cancelled"};
  return kNames[static_cast<std::size_t>(status)];
}

bool Ended(TaskStatus status) { return status > TaskStatus::kInputRequired; }

std::string Iso(std::chrono::system_clock::time_point when) {
  const std::time_t seconds = std::chrono::system_clock::to_time_t(when);
  std::tm parts{};
  ::gmtime_r(&seconds, &parts);
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}Z", parts.tm_year + 1900, parts.tm_mon + 1,
                     parts.tm_mday, parts.tm_hour, parts.tm_min, parts.tm_sec);
}

asio::awaitable<void> WaitUntil(asio::steady_timer& timer, Clock::time_point deadline) {
  timer.expires_at(deadline);
  boost::system::error_code ignored;
  auto token = asio::redirect_error(asio::use_awaitable, ignored);
  co_await timer.async_wait(token);
}

Answer<JsonObject> EncodeEnd(const Task& task) {
  const auto& end = *task.end;
  if (!end) return std::unexpected(end.error());
  const Dialect& dialect = task.call.facts().dialect;
  return std::visit([&](const auto& one) { return Encode(one, dialect); }, *end);
}

}  // namespace

Task::Task(std::string task_id, ToolCall tool_call, Background kind, Call task_call,
           const asio::any_io_executor& executor)
    : id(std::move(task_id)),
      request(std::move(tool_call)),
      background(kind),
      call(std::move(task_call)),
      changed(executor) {}

std::shared_ptr<Task> TaskStore::Create(ToolCall request, Background background, Call call,
                                        std::size_t bytes) {
  Forget();
  if (tasks_.size() >= core_.options().most_tasks || !core_.Admit(bytes)) return nullptr;
  auto task = std::make_shared<Task>(RandomName(), std::move(request), background, std::move(call),
                                     core_.executor());
  // Some are tasks before they begin, so that their questions are asked as a task's.
  if (background == Background::kAlways) {
    task->promoted = true;
    tasks_.emplace(task->id, task);
  }
  asio::co_spawn(core_.executor(), Drive(task, bytes), asio::detached);
  return task;
}

asio::awaitable<Answer<JsonObject>> TaskStore::FirstAnswer(std::shared_ptr<Task> task) {
  const auto self = shared_from_this();
  const auto hook = task->call.cancellation().OnRequest([task] { task->changed.cancel(); });
  const auto deadline = Clock::now() + core_.options().task_grace;
  while (!task->promoted && !task->end && !task->call.cancellation().requested() &&
         Clock::now() < deadline) {
    co_await WaitUntil(task->changed, deadline);
  }
  const bool asks = task->end && *task->end && std::holds_alternative<InputRequired>(**task->end);
  const bool answers = task->end && (asks || task->background == Background::kWhenSlow);
  if (!task->promoted && answers) co_return EncodeEnd(*task);
  if (!task->promoted) {
    task->promoted = true;
    tasks_.emplace(task->id, task);
    if (task->end) Change(*task, *task->end ? TaskStatus::kCompleted : TaskStatus::kFailed);
  }
  JsonObject created = Describe(*task);
  // What came of it is asked for by its id.
  for (const char* key : {"result", "error", "inputRequests"}) created.erase(key);
  created["resultType"] = "task";
  co_return created;
}

asio::awaitable<void> TaskStore::Drive(std::shared_ptr<Task> task, std::size_t bytes) {
  const auto self = shared_from_this();
  const auto core = core_.shared_from_this();
  const ScopeExit release([core, bytes] { core->Release(bytes); });
  co_await core->backlog().WaitForRoom(task->call.cancellation());
  while (!task->call.cancellation().requested()) {
    Answer<Outcome<ToolResult>> outcome = Refuse(RpcCode::kInternalError, "the call did not end");
    try {
      ToolCall request = task->request;
      outcome = co_await core->service().Run(task->call, request);
    } catch (const std::exception& error) {
      outcome = Refuse(RpcCode::kInternalError, fmt::format("the call failed: {}", error.what()));
    }
    if (task->call.cancellation().requested()) break;
    const bool asks = outcome && std::holds_alternative<InputRequired>(*outcome);
    if (asks && task->promoted) {
      InputRequired needed = std::get<InputRequired>(*std::move(outcome));
      co_await WaitForAnswers(*task, needed);
      continue;
    }
    const TaskStatus status = outcome ? TaskStatus::kCompleted : TaskStatus::kFailed;
    task->end = std::move(outcome);
    if (task->promoted) Change(*task, status);
    task->changed.cancel();
    co_return;
  }
  Change(*task, TaskStatus::kCancelled);
}

asio::awaitable<void> TaskStore::WaitForAnswers(Task& task, InputRequired needed) {
  ++task.round;
  task.names.clear();
  for (const auto& [key, request] : needed.requests) {
    // A name means one question for as long as the task lives.
    std::string name = task.round == 1 ? std::string(key)
                                       : fmt::format("{}-{}", std::string_view(key), task.round);
    task.pending[name] = request;
    task.names.emplace(std::move(name), key);
  }
  Change(task, TaskStatus::kInputRequired);
  const auto hook = task.call.cancellation().OnRequest([&] { task.changed.cancel(); });
  while (!task.pending.empty() && !task.call.cancellation().requested()) {
    co_await WaitUntil(task.changed, Clock::time_point::max());
  }
  task.call.Answered(task.answers, std::move(needed.state));
  if (!task.call.cancellation().requested()) Change(task, TaskStatus::kWorking);
}

std::shared_ptr<Task> TaskStore::Find(const std::string& id) {
  Forget();
  const auto found = tasks_.find(id);
  return found != tasks_.end() ? found->second : nullptr;
}

void TaskStore::Update(Task& task, const JsonObject& answers) {
  if (task.status != TaskStatus::kInputRequired) return;
  for (const auto& [key, answer] : answers) {
    if (task.pending.erase(key) == 0) continue;
    task.answers[task.names[std::string(key)]] = answer;
  }
  task.changed.cancel();
}

void TaskStore::Cancel(Task& task) {
  if (Ended(task.status)) return;
  task.call.cancellation().Request();
  // Clients may look at once; what runs ends a moment later.
  Change(task, TaskStatus::kCancelled);
}

JsonObject TaskStore::Describe(const Task& task) const {
  JsonObject state{{"taskId", task.id},
                   {"status", Name(task.status)},
                   {"createdAt", Iso(task.created)},
                   {"lastUpdatedAt", Iso(task.updated)},
                   {"ttlMs", core_.options().task_ttl.count()},
                   {"pollIntervalMs", core_.options().task_poll.count()}};
  if (task.status == TaskStatus::kInputRequired) state["inputRequests"] = task.pending;
  if (task.status == TaskStatus::kCompleted) {
    JsonObject result = EncodeEnd(task).value_or(JsonObject{});
    if (!result.contains("resultType")) result["resultType"] = "complete";
    state["result"] = std::move(result);
  }
  if (task.status == TaskStatus::kFailed) {
    state["error"] = ErrorMessage({}, task.end->error()).at("error");
  }
  return state;
}

void TaskStore::Change(Task& task, TaskStatus status) {
  if (task.status == status || Ended(task.status)) return;
  task.status = status;
  task.updated = std::chrono::system_clock::now();
  core_.Announce(change::Task{task.id, Describe(task)});
}

void TaskStore::Forget() {
  const auto oldest = std::chrono::system_clock::now() - core_.options().task_ttl;
  for (auto at = tasks_.begin(); at != tasks_.end();) {
    const auto task = at->second;
    if (task->created >= oldest) {
      ++at;
      continue;
    }
    at = tasks_.erase(at);
    Cancel(*task);
  }
}

}  // namespace igloo::mcp
