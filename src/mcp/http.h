#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/asio/io_context.hpp>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/error.h"
#include "mcp/server_core.h"

namespace igloo::mcp {

struct HttpOptions {
  std::string address = "127.0.0.1";
  std::uint16_t port = 0;  ///< 0: any that is free
  std::string path = "/mcp";
  /// Without it every user of this machine may call: for tests.
  std::string token = {};
  /// What Host and Origin may name.
  std::vector<std::string> hosts = {"localhost", "127.0.0.1", "[::1]"};
  std::size_t most_connections = 256;
  std::size_t most_sessions = 1000;  ///< of the legacy era; the oldest make room
  std::size_t longest_body = 4U << 20;
};

/// Serves many clients over HTTP: every request is a POST, answered by one JSON message or by a
/// stream of events. One thread.
class HttpServer {
 public:
  HttpServer(boost::asio::io_context& loop, std::shared_ptr<ServerCore> core,
             HttpOptions options = {});
  ~HttpServer();

  /// Takes the port: which one it is.
  Result<std::uint16_t> Listen();
  /// Returns after Stop. Call once, after Listen.
  boost::asio::awaitable<void> Serve();
  void Stop();

 private:
  struct State;
  std::shared_ptr<State> state_;  // shared with the coroutines of its connections
};

}  // namespace igloo::mcp
