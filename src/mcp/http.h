#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/asio/io_context.hpp>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/log.h"
#include "http/server.h"
#include "mcp/server_core.h"

namespace igloo::mcp {

class HttpHandler;

struct HttpOptions {
  http::Address address = http::TcpAddress{};
  std::string path = "/mcp";
  /// What a client has to know, if there is one principal. Without it every user of this machine
  /// may call over TCP, so only loopback can do without; over a Unix socket the kernel says who
  /// calls.
  std::string token = {};
  /// What Host and Origin may name, besides the address itself.
  std::vector<std::string> hosts = http::OwnNames{}.names;

  http::Limits limits = {};
  std::size_t most_streams = 128;    ///< of the connections, those that wait for changes
  std::size_t most_sessions = 1000;  ///< of the legacy era; the oldest make room
  /// How often a stream without news shows that it lives.
  std::chrono::milliseconds keep_alive{15'000};
  Log log = {};
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
  std::shared_ptr<HttpHandler> handler_;  // shared with the connections
  http::Server server_;
};

}  // namespace igloo::mcp
