#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/asio/io_context.hpp>
#include <cstdint>
#include <memory>

#include "base/error.h"
#include "base/log.h"
#include "http/connection.h"

namespace igloo::http {

/// Serves many clients over HTTP/1.1; a handler answers. One thread.
class Server {
 public:
  Server(boost::asio::io_context& loop, std::shared_ptr<Handler> handler, Options options,
         Log log = {});
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;
  ~Server();

  /// Takes the address: which port it is, 0 for a Unix socket.
  Result<std::uint16_t> Listen();
  /// Returns after Stop. Call once, after Listen.
  boost::asio::awaitable<void> Serve();
  /// Hangs up on everyone, and requests Responder::gone of what is being answered.
  void Stop();

 private:
  struct State;
  std::shared_ptr<State> state_;  // shared with the coroutines of its connections
};

}  // namespace igloo::http
