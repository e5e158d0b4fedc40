#pragma once

#include <boost/asio/awaitable.hpp>
#include <expected>
#include <memory>
#include <optional>
#include <string>

#include "base/cancellation.h"
#include "http/message.h"
#include "http/transport.h"

namespace igloo::http {

struct Request {
  Head head = {};
  std::string body = {};
};

/// A connection on which client and server speak another protocol from now on.
struct Upgraded {
  std::shared_ptr<Transport> transport =
      {};                  // shared with the server, which closes it when it ends
  std::string ahead = {};  ///< what the client has sent already
};

/// The way back to the client that sent one request. Answers are one Reply, or events up to a last
/// one, or an Upgrade. A connection whose request gets none of them whole is closed. One thread;
/// gone when Handler::Serve has returned.
class Responder {
 public:
  virtual ~Responder() = default;

  /// Whether the client has got all of it. Call once.
  virtual boost::asio::awaitable<bool> Reply(Response response) = 0;
  /// The first event begins the stream. False when the client does not take it.
  virtual boost::asio::awaitable<bool> Send(Event event) = 0;
  /// Tells the client that from now on the connection speaks what `fields` name, and gives it to
  /// the caller; empty when the client has gone. It is closed when Handler::Serve returns.
  virtual boost::asio::awaitable<std::optional<Upgraded>> Upgrade(Fields fields) = 0;

  /// Requested when nobody waits for the answer any more: the server ends, or, after
  /// WatchForHangUp, the client has hung up. Without that, one that has closed only its sending
  /// half is waited for.
  virtual Cancellation gone() const = 0;
  virtual void WatchForHangUp() = 0;
};

/// Who answers the requests of a server, whatever their paths and methods.
class Handler {
 public:
  virtual ~Handler() = default;

  /// Looks at a head that was meant for this server, before its body is read. A response refuses
  /// the request, and the connection ends with it.
  virtual std::optional<Response> Refuse(const Head& head) = 0;
  /// Answers a request that was not refused.
  virtual boost::asio::awaitable<void> Serve(Request request, Responder& responder) = 0;
  /// How clients are told what could not be read, or was not meant for this server.
  virtual Response Explain(const Failure& failure) = 0;
};

}  // namespace igloo::http
