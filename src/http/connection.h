#pragma once

#include <boost/asio/awaitable.hpp>
#include <memory>
#include <optional>

#include "base/cancellation.h"
#include "http/handler.h"
#include "http/limited_transport.h"
#include "http/options.h"

namespace igloo::http {

/// What all connections of one server share.
struct Shared {
  boost::asio::any_io_executor executor;
  std::shared_ptr<Handler> handler;  // shared with whoever made it
  Options options = {};
  OwnNames own = {};
};

/// One client's connection: its requests, one after the other. One thread.
class Connection : public std::enable_shared_from_this<Connection> {
 public:
  Connection(std::shared_ptr<Shared> shared, UniqueFd socket);

  /// Returns when the client has hung up or cannot go on, or after Stop.
  boost::asio::awaitable<void> Serve();
  void Stop();
  /// Whether one of its requests was let in: before, it may be a stranger's.
  bool known() const { return known_; }

 private:
  template <class T>
  using Awaitable = boost::asio::awaitable<T>;
  class RequestResponder;

  /// Each says whether the client has got all of its answer.
  Awaitable<bool> Handle(Head head);
  Awaitable<bool> Answer(Request request);
  Awaitable<bool> Reply(Response response);
  Awaitable<bool> Explain(Failure failure);

  /// The answer that a head alone gets; nothing when its body is to be looked at.
  std::optional<Response> Refused(const Head& head);

  std::shared_ptr<Shared> shared_;  // shared with the server and its other connections
  LimitedTransport transport_;
  Cancellation gone_ = {};          ///< of the request under way
  After after_ = After::kKeepOpen;  ///< likewise
  bool known_ = false, stopped_ = false;
};

}  // namespace igloo::http
