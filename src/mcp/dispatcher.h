#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "mcp/call.h"
#include "mcp/channel.h"
#include "mcp/json_rpc.h"
#include "mcp/methods.h"
#include "mcp/server_core.h"

namespace igloo::mcp {

struct Task;

/// What lasts from one message of a client to the next.
struct ClientState {
  Peer peer = {};
  std::map<RequestId, Cancellation> running = {};
};

/// Whether changes are told to a client of the legacy era here, which does not ask for them.
enum class Hears { kAnswers, kChangesToo };

/// Answers what comes on one way to a client, and remembers what it asked for there. A pipe is one
/// of these; so is every request over HTTP, where a client of the legacy era has one state for all
/// of them. One thread.
class Dispatcher : public std::enable_shared_from_this<Dispatcher> {
 public:
  /// Made by ServerCore::Connect.
  Dispatcher(std::shared_ptr<ServerCore> core, std::shared_ptr<Channel> channel,
             std::shared_ptr<ClientState> state, Hears hears);

  void Receive(std::string_view message);
  /// A message of `bytes` bytes that the transport has read; `expected` is what it knows about the
  /// client's era, if it does.
  void Receive(Message message, std::size_t bytes, std::optional<Era> expected = {});
  /// Nobody reads the answers any more: cancels every call and waits for none of them.
  void Close();

  /// Answers that are still to come, subscriptions included.
  bool idle() const { return state_->running.empty() && listening_.empty(); }

 private:
  friend class ServerCore;
  struct Work;

  /// Answers what is no message, or none that can be served.
  void Reject(const Refusal& refusal);
  bool InUse(const RequestId& id) const;
  void Begin(Request request, std::size_t bytes, std::optional<Era> expected);
  Answer<CallFacts> FactsOf(const Request& request, const Method* method,
                            std::optional<Era> expected) const;
  void Listen(const Request& request, const CallFacts& facts);
  void Spawn(const Method& method, Request request, CallFacts facts, std::size_t bytes);
  boost::asio::awaitable<void> Serve(std::shared_ptr<Dispatcher> self, std::unique_ptr<Work> work);
  /// Runs a tool in such a way that it can outlive its request; false when that is not wanted.
  bool SpawnTask(const Request& request, const CallFacts& facts, std::size_t bytes);
  boost::asio::awaitable<void> ServeTask(std::shared_ptr<Dispatcher> self, RequestId id,
                                         std::shared_ptr<Task> task);
  void Note(const Notification& notification);
  void Cancel(const RequestId& id);
  void Send(const RequestId& id, const Dialect& dialect, bool cacheable, Answer<JsonObject> answer);
  void SendError(const std::optional<RequestId>& id, const RpcError& error);
  void SendResult(const RequestId& id, std::string_view result);
  /// As it goes out.
  std::string ResultText(const Dialect& dialect, bool cacheable, JsonObject result) const;
  /// Tells a change to this client, if it asked for it.
  void Tell(const Change& change);

  std::shared_ptr<ServerCore> core_;  // shared by all dispatchers
  std::shared_ptr<Channel> channel_;  // shared with the transport and with running calls
  std::shared_ptr<Questions> questions_;
  std::shared_ptr<ClientState> state_;  // shared by the dispatchers of one client
  Hears hears_;
  std::map<RequestId, Filter> listening_ = {};
  std::vector<std::string> tasks_ = {};  ///< that nobody can ask for once this client is gone
};

}  // namespace igloo::mcp
