#pragma once

#include <boost/asio/awaitable.hpp>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "mcp/http_exchange.h"
#include "mcp/http_sessions.h"
#include "mcp/http_stream.h"

namespace igloo::mcp {

/// The clients of one principal. SECURITY: what one of them may name (sessions, tasks, resources)
/// is looked for here and in this core only.
struct HttpClients {
  std::string token;
  std::shared_ptr<ServerCore> core;  // shared with other transports
  HttpSessions sessions;
};

/// What all connections of one HTTP server share.
struct HttpShared {
  HttpShared(boost::asio::any_io_executor on, std::vector<HttpPrincipal> principals,
             HttpOptions http_options)
      : executor(std::move(on)), options(std::move(http_options)) {
    for (HttpPrincipal& each : principals) {
      clients.push_back(
          {std::move(each.token), std::move(each.core), HttpSessions(options.most_sessions)});
    }
  }

  /// Whose token this is; null for a stranger.
  HttpClients* Find(std::string_view authorization);

  boost::asio::any_io_executor executor;
  HttpOptions options;
  OwnNames own = {};
  std::vector<HttpClients> clients = {};  ///< INVARIANT: none is added or removed
  std::size_t streams = 0;                ///< that wait for changes now
};

/// One client's connection: its requests, one after the other. One thread.
class HttpConnection : public std::enable_shared_from_this<HttpConnection> {
 public:
  HttpConnection(std::shared_ptr<HttpShared> shared, UniqueFd socket);

  /// Returns when the client has hung up or cannot go on, or after Stop.
  boost::asio::awaitable<void> Serve();
  void Stop();
  /// Whether one of its requests was let in: before, it may be a stranger's.
  bool known() const { return known_; }

 private:
  template <class T>
  using Awaitable = boost::asio::awaitable<T>;

  /// Each says whether the client has got all of its answer.
  Awaitable<bool> Handle(HttpHead head);
  Awaitable<bool> Reply(HttpResponse response);
  Awaitable<bool> Tell(HttpFailure failure);
  Awaitable<bool> Post(HttpHead head);
  Awaitable<bool> Answer(Message message, std::size_t bytes, Era era,
                         std::shared_ptr<ClientState> state);
  Awaitable<bool> HearChanges(std::string session);
  Awaitable<bool> Stream(std::optional<Outgoing> first);

  /// The answer that a head alone gets; nothing when its body is to be looked at.
  std::optional<HttpResponse> Refused(const HttpHead& head);
  HttpResponse Other(const HttpHead& head);
  enum class HangUp { kEnds, kMeansNothing };
  void BeginExchange(HangUp hang_up);
  void EndExchange();
  Awaitable<void> Watch(std::shared_ptr<HttpExchange> exchange);

  std::shared_ptr<HttpShared> shared_;  // shared with the server and its other connections
  HttpStream stream_;
  HttpClients* who_ = nullptr;  ///< who sent the request under way; null for a stranger
  std::shared_ptr<HttpExchange> exchange_ = {};  // shared with the calls that answer on it
  After after_ = After::kKeepOpen;               ///< of the request under way
  bool known_ = false;
};

}  // namespace igloo::mcp
