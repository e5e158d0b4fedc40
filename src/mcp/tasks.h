#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "mcp/call.h"
#include "mcp/types.h"

namespace igloo::mcp {

class ServerCore;

enum class TaskStatus { kWorking, kInputRequired, kCompleted, kFailed, kCancelled };

/// A call that may outlive its request.
struct Task {
  Task(std::string task_id, ToolCall tool_call, Background kind, Call task_call,
       const boost::asio::any_io_executor& executor);

  std::string id;  ///< SECURITY: whoever knows it may ask for the result, so it is random
  ToolCall request;
  Background background;
  Call call;
  TaskStatus status = TaskStatus::kWorking;
  std::chrono::system_clock::time_point created = std::chrono::system_clock::now();
  std::chrono::system_clock::time_point updated = created;
  bool promoted = false;                                ///< it can be asked for by its id
  std::optional<Answer<Outcome<ToolResult>>> end = {};  ///< how it came out
  JsonObject pending = {};                              ///< questions without an answer
  std::map<std::string, std::string> names = {};        ///< a question's name to the service's own
  JsonObject answers = {};                              ///< by the service's names
  int round = 0;                                        ///< how often it has asked
  boost::asio::steady_timer changed;                    ///< cancelled when one of these changes
};

/// The tasks of a server (extension io.modelcontextprotocol/tasks). One thread.
class TaskStore : public std::enable_shared_from_this<TaskStore> {
 public:
  explicit TaskStore(ServerCore& core) : core_(core) {}

  /// A task that is not promoted yet; null when there are too many.
  std::shared_ptr<Task> Create(ToolCall request, Background background, Call call,
                               std::size_t bytes);
  /// Runs it, until there is something to answer its request with: its result, its question, or
  /// that it goes on as a task.
  boost::asio::awaitable<Answer<JsonObject>> FirstAnswer(std::shared_ptr<Task> task);

  /// Null for what does not exist, or not any more.
  std::shared_ptr<Task> Find(const std::string& id);
  /// Answers to its questions; others are ignored, and so are those of a task that has ended.
  void Update(Task& task, const JsonObject& answers);
  void Cancel(Task& task);
  /// Its whole state, as tasks/get gives it.
  JsonObject Describe(const Task& task) const;

 private:
  boost::asio::awaitable<void> Drive(std::shared_ptr<Task> task, std::size_t bytes);
  boost::asio::awaitable<void> WaitForAnswers(Task& task, InputRequired needed);
  void Change(Task& task, TaskStatus status);
  void Forget();

  ServerCore& core_;                                         ///< owns this
  std::map<std::string, std::shared_ptr<Task>> tasks_ = {};  // shared with who runs them
};

}  // namespace igloo::mcp
