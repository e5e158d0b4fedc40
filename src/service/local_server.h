#pragma once

#include <boost/asio/io_context.hpp>
#include <cstddef>
#include <functional>
#include <memory>

#include "base/unique_fd.h"
#include "base/unix_listener.h"

namespace igloo::service {

/// Takes in the clients of a Unix socket of igloo's own, this user's and root's, on an event loop.
class LocalServer {
 public:
  /// Begins to serve a client; what it returns lives as long as that one is served.
  using Serve = std::function<std::shared_ptr<void>(UniqueFd client)>;

  LocalServer(boost::asio::io_context& loop, UnixListener listener, Serve serve,
              std::size_t most = 32);
  ~LocalServer();
  LocalServer(const LocalServer&) = delete;
  LocalServer& operator=(const LocalServer&) = delete;

 private:
  struct State;
  std::shared_ptr<State> state_;  // shared with the coroutine that waits on it
};

}  // namespace igloo::service
