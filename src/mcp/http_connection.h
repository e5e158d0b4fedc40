#pragma once

#include <boost/asio/awaitable.hpp>
#include <memory>
#include <optional>
#include <string>

#include "mcp/http_exchange.h"
#include "mcp/http_sessions.h"
#include "mcp/http_stream.h"

namespace igloo::mcp {

/// What all connections of one HTTP server share.
struct HttpShared {
  HttpShared(std::shared_ptr<ServerCore> shared_core, HttpOptions http_options)
      : core(std::move(shared_core)),
        options(std::move(http_options)),
        sessions(options.most_sessions) {}

  std::shared_ptr<ServerCore> core;  // shared with other transports
  HttpOptions options;
  OwnNames own = {};
  HttpSessions sessions;
  std::size_t streams = 0;  ///< that wait for changes now
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
  std::optional<HttpResponse> Refused(const HttpHead& head) const;
  HttpResponse Other(const HttpHead& head);
  enum class HangUp { kEnds, kMeansNothing };
  void BeginExchange(HangUp hang_up);
  void EndExchange();
  Awaitable<void> Watch(std::shared_ptr<HttpExchange> exchange);

  std::shared_ptr<HttpShared> shared_;  // shared with the server and its other connections
  HttpStream stream_;
  std::shared_ptr<HttpExchange> exchange_ = {};  // shared with the calls that answer on it
  After after_ = After::kKeepOpen;               ///< of the request under way
  bool known_ = false;
};

}  // namespace igloo::mcp
