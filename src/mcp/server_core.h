#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <list>
#include <map>
#include <memory>
#include <string>
#include <variant>

#include "mcp/channel.h"
#include "mcp/options.h"
#include "mcp/questions.h"
#include "mcp/service.h"

namespace igloo::mcp {

class Dispatcher;
class TaskStore;
struct ClientState;
enum class Hears;

namespace change {
struct Tools {};
struct Prompts {};
struct Resources {};
/// One resource has another content now.
struct Updated {
  std::string uri = {};
};
/// A task has another status now.
struct Task {
  std::string id = {};
  JsonObject state = {};
};
}  // namespace change
using Change =
    std::variant<change::Tools, change::Prompts, change::Resources, change::Updated, change::Task>;

/// What all dispatchers of one server share. Made with std::make_shared; one thread.
class ServerCore : public std::enable_shared_from_this<ServerCore> {
 public:
  /// `service` outlives every call, so it is destroyed after the event loop.
  ServerCore(boost::asio::any_io_executor executor, Service& service, ServerOptions options = {});

  /// A client that is alone on its channel.
  std::shared_ptr<Dispatcher> Connect(std::shared_ptr<Channel> channel);
  std::shared_ptr<Dispatcher> Connect(std::shared_ptr<Channel> channel,
                                      std::shared_ptr<ClientState> state, Hears hears);
  /// Tells every client that wants to know.
  void Announce(const Change& change);

  const boost::asio::any_io_executor& executor() const { return executor_; }
  Service& service() { return service_; }
  const ServerOptions& options() const { return options_; }
  TaskStore& tasks() { return *tasks_; }
  Backlog& backlog() { return *backlog_; }
  const std::shared_ptr<Questions>& questions() const { return questions_; }

  /// The encoded result of `tools/list` in a revision of the protocol, which most clients ask for
  /// again and again; null until it was kept, and again after change::Tools.
  const std::string* KeptTools(const std::string& version) const;
  void KeepTools(const std::string& version, std::string result) {
    kept_tools_[version] = std::move(result);
  }

  /// Counts a call; false when there are too many at once.
  bool Admit(std::size_t bytes);
  void Release(std::size_t bytes);
  /// Calls whose coroutines have not ended, cancelled ones included.
  std::size_t running() const { return calls_; }

 private:
  boost::asio::any_io_executor executor_;
  Service& service_;
  ServerOptions options_;
  std::shared_ptr<Questions> questions_ = std::make_shared<Questions>();  // shared with calls
  std::shared_ptr<Backlog> backlog_;  // shared with the answers that wait
  std::shared_ptr<TaskStore> tasks_;  // shared with the coroutines of its tasks
  std::list<std::weak_ptr<Dispatcher>> dispatchers_ = {};
  std::map<std::string, std::string> kept_tools_ = {};  ///< by revision
  std::size_t calls_ = 0, call_bytes_ = 0;
};

}  // namespace igloo::mcp
