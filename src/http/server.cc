#include "http/server.h"

#include <algorithm>
#include <list>

#include "base/error_text.h"
#include "http/listener.h"
#include "http/pch.h"

namespace igloo::http {

namespace asio = boost::asio;

namespace {

/// Until others have closed some files.
constexpr auto kPause = std::chrono::milliseconds(100);

}  // namespace

struct Server::State : std::enable_shared_from_this<State> {
  State(asio::io_context& loop, std::shared_ptr<Handler> handler, Options options, Log own_log)
      : shared(
            std::make_shared<Shared>(loop.get_executor(), std::move(handler), std::move(options))),
        log(std::move(own_log)),
        watched(loop),
        pause(loop) {}

  asio::awaitable<void> Attend(std::shared_ptr<Connection> connection);
  void Admit(UniqueFd socket);
  /// Says it without waiting, to a client for which there is no room.
  void TurnAway(UniqueFd socket) const;
  /// SECURITY: whoever says nothing, or has no token, keeps nobody out; false when all are clients.
  bool DropStranger();

  std::shared_ptr<Shared> shared;  // shared with the connections
  Log log;
  std::optional<Listener> listener = {};   ///< not set: it does not listen, or not any more
  asio::posix::stream_descriptor watched;  ///< the listener's, borrowed
  asio::steady_timer pause;
  /// The oldest first; shared with their coroutines.
  std::list<std::shared_ptr<Connection>> connections = {};
};

asio::awaitable<void> Server::State::Attend(std::shared_ptr<Connection> connection) {
  const auto self = shared_from_this();
  co_await connection->Serve();
  connections.remove(connection);
}

void Server::State::Admit(UniqueFd socket) {
  if (connections.size() >= shared->options.limits.most_connections && !DropStranger()) {
    return TurnAway(std::move(socket));
  }
  const auto connection = std::make_shared<Connection>(shared, std::move(socket));
  connections.push_back(connection);
  asio::co_spawn(shared->executor, Attend(connection), asio::detached);
}

void Server::State::TurnAway(UniqueFd socket) const {
  const Response response{.status = 503, .fields = {{"Retry-After", "1"}}};
  Transport transport(shared->executor, std::move(socket));
  transport.WriteNow(ResponseHead(response, After::kClose));
}

bool Server::State::DropStranger() {
  const auto stranger = std::ranges::find(connections, false, &Connection::known);
  if (stranger == connections.end()) return false;
  (*stranger)->Stop();
  connections.erase(stranger);
  return true;
}

Server::Server(asio::io_context& loop, std::shared_ptr<Handler> handler, Options options, Log log)
    : state_(
          std::make_shared<State>(loop, std::move(handler), std::move(options), std::move(log))) {}

Server::~Server() { Stop(); }

Result<std::uint16_t> Server::Listen() {
  const Options& options = state_->shared->options;
  IGLOO_ASSIGN(Listener listener, Listener::Open(options.address));
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

asio::awaitable<void> Server::Serve() {
  const auto state = state_;
  bool said = false;  // why no client can be taken in
  while (state->listener) {
    boost::system::error_code error;
    auto token = asio::redirect_error(asio::use_awaitable, error);
    co_await state->watched.async_wait(asio::posix::stream_descriptor::wait_read, token);
    if (error || !state->listener) break;
    auto client = state->listener->Accept();
    if (client) {
      said = false;
      if (*client) state->Admit(**std::move(client));
      continue;
    }
    if (!std::exchange(said, true)) {
      state->log.At(Log::Level::kWarning)(InOneLine(client.error()));
    }
    // No descriptor is free: the client stays where it is, and would wake this at once again.
    state->pause.expires_after(kPause);
    co_await state->pause.async_wait(token);
  }
}

void Server::Stop() {
  boost::system::error_code ignored;
  if (state_->watched.is_open()) {
    state_->watched.cancel(ignored);
    state_->watched.release();
  }
  state_->pause.cancel();
  state_->listener.reset();
  // Each takes itself out of the set, later.
  for (const auto& connection : state_->connections) connection->Stop();
}

}  // namespace igloo::http
