#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/asio/io_context.hpp>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/error.h"
#include "mcp/http_address.h"
#include "mcp/server_core.h"

namespace igloo::mcp {

struct HttpOptions {
  HttpAddress address = TcpAddress{};
  std::string path = "/mcp";
  /// What a client has to know, if there is one principal. Without it every user of this machine
  /// may call over TCP, so only loopback can do without; over a Unix socket the kernel says who
  /// calls.
  std::string token = {};
  /// What Host and Origin may name, besides the address itself.
  std::vector<std::string> hosts = OwnNames{}.names;

  std::size_t most_connections = 256;  ///< those that were never let in make room for others
  std::size_t most_streams = 128;      ///< of them, those that wait for changes
  std::size_t most_sessions = 1000;    ///< of the legacy era; the oldest make room
  std::size_t longest_head = 32U << 10;
  std::size_t longest_body = 4U << 20;
  /// What a client may take: from one request to the next, for a head (and to begin with the first
  /// one), for a body, and to fetch what it is sent.
  std::chrono::milliseconds idle_limit{60'000};
  std::chrono::milliseconds head_limit{10'000};
  std::chrono::milliseconds body_limit{30'000};
  std::chrono::milliseconds write_limit{30'000};
  /// How often a stream without news shows that it lives.
  std::chrono::milliseconds keep_alive{15'000};
};

/// Those who know one token, and what serves them. Principals share nothing but the transport: each
/// has sessions, tasks and resources of its own.
struct HttpPrincipal {
  std::string token = {};  ///< empty: nobody is asked for one, and there is no other principal
  std::shared_ptr<ServerCore> core = {};  // shared with other transports
};

/// Serves many clients over HTTP: every request is a POST, answered by one JSON message or by a
/// stream of events. One thread.
class HttpServer {
 public:
  HttpServer(boost::asio::io_context& loop, std::shared_ptr<ServerCore> core,
             HttpOptions options = {});
  /// Several principals, each with a token of its own. All cores run on `loop`.
  HttpServer(boost::asio::io_context& loop, std::vector<HttpPrincipal> principals,
             HttpOptions options);
  ~HttpServer();

  /// Takes the address: which port it is, 0 for a Unix socket. Refuses to serve others than this
  /// machine's without a token.
  Result<std::uint16_t> Listen();
  /// Returns after Stop. Call once, after Listen.
  boost::asio::awaitable<void> Serve();
  /// Hangs up on everyone and cancels what runs.
  void Stop();

 private:
  struct State;
  std::shared_ptr<State> state_;  // shared with the coroutines of its connections
};

}  // namespace igloo::mcp
