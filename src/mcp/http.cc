#include "mcp/http.h"

#include <sys/socket.h>

#include <algorithm>
#include <list>

#include "mcp/http_connection.h"
#include "mcp/http_listener.h"
#include "mcp/pch.h"

namespace igloo::mcp {

namespace asio = boost::asio;

namespace {

/// Until others have closed some files.
constexpr auto kPause = std::chrono::milliseconds(100);

/// Says it without waiting, to a client for which there is no room.
void TurnAway(const UniqueFd& socket) {
  const HttpResponse response{.status = 503, .fields = {{"Retry-After", "1"}}};
  const std::string bytes = ResponseHead(response, After::kClose);
  // NOLINTNEXTLINE(bugprone-unused-return-value): whoever does not hear it is told by the end
  (void)::send(socket.get(), bytes.data(), bytes.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
}

}  // namespace

struct HttpServer::State : std::enable_shared_from_this<State> {
  State(asio::io_context& loop, std::vector<HttpPrincipal> principals, HttpOptions options)
      : shared(std::make_shared<HttpShared>(loop.get_executor(), std::move(principals),
                                            std::move(options))),
        watched(loop),
        pause(loop) {}

  asio::awaitable<void> Attend(std::shared_ptr<HttpConnection> connection);
  void Admit(UniqueFd socket);
  /// SECURITY: whoever says nothing, or has no token, keeps nobody out; false when all are clients.
  bool DropStranger();

  std::shared_ptr<HttpShared> shared;         // shared with the connections
  std::optional<HttpListener> listener = {};  ///< not set: it does not listen, or not any more
  asio::posix::stream_descriptor watched;     ///< the listener's, borrowed
  asio::steady_timer pause;
  /// The oldest first; shared with their coroutines.
  std::list<std::shared_ptr<HttpConnection>> connections = {};
};

asio::awaitable<void> HttpServer::State::Attend(std::shared_ptr<HttpConnection> connection) {
  const auto self = shared_from_this();
  co_await connection->Serve();
  connections.remove(connection);
}

void HttpServer::State::Admit(UniqueFd socket) {
  if (connections.size() >= shared->options.most_connections && !DropStranger()) {
    return TurnAway(socket);
  }
  const auto connection = std::make_shared<HttpConnection>(shared, std::move(socket));
  connections.push_back(connection);
  asio::co_spawn(shared->executor, Attend(connection), asio::detached);
}

bool HttpServer::State::DropStranger() {
  const auto stranger = std::ranges::find(connections, false, &HttpConnection::known);
  if (stranger == connections.end()) return false;
  (*stranger)->Stop();
  connections.erase(stranger);
  return true;
}

HttpServer::HttpServer(asio::io_context& loop, std::shared_ptr<ServerCore> core,
                       HttpOptions options)
    : HttpServer(loop, {HttpPrincipal{options.token, std::move(core)}}, options) {}

HttpServer::HttpServer(asio::io_context& loop, std::vector<HttpPrincipal> principals,
                       HttpOptions options)
    : state_(std::make_shared<State>(loop, std::move(principals), std::move(options))) {}

HttpServer::~HttpServer() { Stop(); }

Result<std::uint16_t> HttpServer::Listen() {
  const HttpOptions& options = state_->shared->options;
  // SECURITY: over a network, whoever reaches the port could run code here.
  const bool open = std::ranges::any_of(state_->shared->clients,
                                        [](const HttpClients& each) { return each.token.empty(); });
  if (open && state_->shared->clients.size() > 1) {
    return Fail(Errc::kInvalidArgument, "one of several principals has no token",
                "give each a token of its own");
  }
  if (!IsLoopback(options.address) && open) {
    return Fail(
        Errc::kInvalidArgument,
        ToText(options.address) + " can be reached by other machines, and there is no token",
        "set a token, or listen on 127.0.0.1");
  }
  IGLOO_ASSIGN(HttpListener listener, HttpListener::Open(options.address));
  std::uint16_t port = 0;
  state_->shared->own.names = options.hosts;
  if (const auto* tcp = std::get_if<TcpAddress>(&listener.address())) {
    state_->shared->own = NamesOf(*tcp, options.hosts);
    port = tcp->port;
  }
  state_->watched.assign(listener.fd());
  state_->listener.emplace(std::move(listener));
  return port;
}

asio::awaitable<void> HttpServer::Serve() {
  const auto state = state_;
  while (state->listener) {
    boost::system::error_code error;
    auto token = asio::redirect_error(asio::use_awaitable, error);
    co_await state->watched.async_wait(asio::posix::stream_descriptor::wait_read, token);
    if (error || !state->listener) break;
    auto client = state->listener->Accept();
    if (!client) {
      // No descriptor is free: the client stays where it is, and would wake this at once again.
      state->pause.expires_after(kPause);
      co_await state->pause.async_wait(token);
    } else if (*client) {
      state->Admit(**std::move(client));
    }
  }
}

void HttpServer::Stop() {
  boost::system::error_code ignored;
  if (state_->watched.is_open()) {
    state_->watched.cancel(ignored);
    state_->watched.release();
  }
  state_->pause.cancel();
  state_->listener.reset();
  // Each takes itself out of the set, later.
  for (const auto& connection : state_->connections) connection->Stop();
  for (HttpClients& each : state_->shared->clients) each.sessions.EndAll();
}

}  // namespace igloo::mcp
