#include "mcp/http.h"

#include <sys/socket.h>

#include <boost/asio/ip/tcp.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http.hpp>
#include <list>
#include <set>

#include "mcp/connection.h"
#include "mcp/http_exchange.h"
#include "mcp/http_rules.h"
#include "mcp/pch.h"

namespace igloo::mcp {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = boost::beast::http;
using asio::ip::tcp;

namespace {

using HttpRequest = http::request<http::string_body>;
using HttpResponse = http::response<http::string_body>;

constexpr auto kReadLimit = std::chrono::seconds(60);  ///< from one request to the next
constexpr auto kWriteLimit = std::chrono::seconds(30);
constexpr auto kKeepAlive = std::chrono::seconds(15);
constexpr std::uint32_t kLongestHeader = 32U << 10;

auto Redirect(boost::system::error_code& error) {
  return asio::redirect_error(asio::use_awaitable, error);
}

std::string Header(const HttpRequest& request, std::string_view name) {
  const auto found = request.find(name);
  return found != request.end() ? std::string(found->value()) : std::string();
}

HttpHeaders HeadersOf(const HttpRequest& request) {
  return {.host = Header(request, "Host"),
          .origin = Header(request, "Origin"),
          .authorization = Header(request, "Authorization"),
          .version = Header(request, "MCP-Protocol-Version"),
          .method = Header(request, "Mcp-Method"),
          .name = Header(request, "Mcp-Name"),
          .session = Header(request, "Mcp-Session-Id")};
}

HttpResponse Plain(unsigned status, std::string body) {
  HttpResponse response(static_cast<http::status>(status), 11);
  if (!body.empty()) response.set(http::field::content_type, "application/json");
  response.body() = std::move(body);
  return response;
}

HttpResponse Problem(unsigned status, const RpcError& error) {
  return Plain(status, EncodeMessage(ErrorMessage({}, error)));
}

}  // namespace

asio::awaitable<std::optional<Outgoing>> HttpExchange::Next(
    std::chrono::steady_clock::duration patience) {
  const auto deadline = std::chrono::steady_clock::now() + patience;
  while (queue_.empty() && !gone_ && std::chrono::steady_clock::now() < deadline) {
    changed_.expires_at(deadline);
    boost::system::error_code ignored;
    auto token = Redirect(ignored);
    co_await changed_.async_wait(token);
  }
  if (queue_.empty() || gone_) co_return std::nullopt;
  Outgoing message = std::move(queue_.front());
  queue_.pop_front();
  queued_ -= message.text.size();
  co_return message;
}

/// One TCP connection.
struct Client {
  explicit Client(tcp::socket socket) : stream(std::move(socket)) {}
  beast::tcp_stream stream;
  std::shared_ptr<HttpExchange> exchange = {};  // shared with the calls that answer on it
  bool watched = false;
};

struct HttpServer::State : std::enable_shared_from_this<State> {
  State(asio::io_context& loop, std::shared_ptr<ServerCore> shared_core, HttpOptions http_options)
      : core(std::move(shared_core)), options(std::move(http_options)), acceptor(loop) {}

  asio::awaitable<void> Attend(std::shared_ptr<Client> client);
  /// False when the connection cannot go on.
  asio::awaitable<bool> Handle(std::shared_ptr<Client> client, HttpRequest request);
  std::optional<HttpResponse> Refused(const HttpRequest& request, const HttpHeaders& headers) const;
  asio::awaitable<bool> Post(std::shared_ptr<Client> client, HttpRequest request,
                             HttpHeaders headers);
  asio::awaitable<bool> Reply(std::shared_ptr<Client> client, HttpResponse response,
                              std::string session);
  asio::awaitable<bool> Stream(std::shared_ptr<Client> client, std::optional<Outgoing> first);
  asio::awaitable<void> Watch(std::shared_ptr<Client> client,
                              std::shared_ptr<HttpExchange> exchange);
  asio::awaitable<bool> HearChanges(std::shared_ptr<Client> client, std::string session);
  void Unwatch(Client& client);

  std::shared_ptr<ClientState> FindSession(const std::string& name);
  std::string NewSession(std::shared_ptr<ClientState> state);

  std::shared_ptr<ServerCore> core;  // shared with other transports
  HttpOptions options;
  tcp::acceptor acceptor;
  std::set<std::shared_ptr<Client>> clients = {};  // shared with their coroutines
  /// The most recently used first.
  std::list<std::pair<std::string, std::shared_ptr<ClientState>>> sessions = {};
};

std::shared_ptr<ClientState> HttpServer::State::FindSession(const std::string& name) {
  for (auto at = sessions.begin(); at != sessions.end(); ++at) {
    if (at->first != name) continue;
    sessions.splice(sessions.begin(), sessions, at);
    return sessions.front().second;
  }
  return nullptr;
}

std::string HttpServer::State::NewSession(std::shared_ptr<ClientState> state) {
  // SECURITY: whoever knows a session's name may use it, so it cannot be guessed.
  sessions.emplace_front(RandomName(), std::move(state));
  if (sessions.size() > options.most_sessions) sessions.pop_back();
  return sessions.front().first;
}

asio::awaitable<bool> HttpServer::State::Reply(std::shared_ptr<Client> client,
                                               HttpResponse response, std::string session) {
  if (!session.empty()) response.set("Mcp-Session-Id", session);
  response.prepare_payload();
  client->stream.expires_after(kWriteLimit);
  boost::system::error_code error;
  auto token = Redirect(error);
  co_await http::async_write(client->stream, response, token);
  co_return !error;
}

asio::awaitable<void> HttpServer::State::Watch(std::shared_ptr<Client> client,
                                               std::shared_ptr<HttpExchange> exchange) {
  const auto self = shared_from_this();
  boost::system::error_code error;
  auto token = Redirect(error);
  co_await client->stream.socket().async_wait(tcp::socket::wait_read, token);
  if (error) co_return;
  char byte = 0;
  const ssize_t count =
      ::recv(client->stream.socket().native_handle(), &byte, 1, MSG_PEEK | MSG_DONTWAIT);
  // A client that sends its next request early is still there.
  if (count <= 0) exchange->Disconnect();
}

void HttpServer::State::Unwatch(Client& client) {
  boost::system::error_code ignored;
  client.stream.socket().cancel(ignored);
  client.exchange.reset();
}

asio::awaitable<bool> HttpServer::State::Stream(std::shared_ptr<Client> client,
                                                std::optional<Outgoing> first) {
  http::response<http::empty_body> head(http::status::ok, 11);
  head.set(http::field::content_type, "text/event-stream");
  head.set(http::field::cache_control, "no-cache");
  head.set("X-Accel-Buffering", "no");
  head.chunked(true);
  http::response_serializer<http::empty_body> serializer(head);
  boost::system::error_code error;
  auto token = Redirect(error);
  client->stream.expires_after(kWriteLimit);
  co_await http::async_write_header(client->stream, serializer, token);
  const auto exchange = client->exchange;
  while (!error && !exchange->gone()) {
    // A comment now and then keeps what lies between awake.
    std::string text = first ? "event: message\ndata: " + first->text + "\n\n" : ": \n\n";
    const auto chunk = http::make_chunk(asio::buffer(text));
    client->stream.expires_after(kWriteLimit);
    co_await asio::async_write(client->stream, chunk, token);
    if (first && first->answer) break;
    first = co_await exchange->Next(kKeepAlive);
  }
  if (error || exchange->gone()) co_return false;
  const auto end = http::make_chunk_last();
  co_await asio::async_write(client->stream, end, token);
  co_return !error;
}

asio::awaitable<bool> HttpServer::State::HearChanges(std::shared_ptr<Client> client,
                                                     std::string session) {
  const auto state = FindSession(session);
  if (state == nullptr) {
    HttpResponse response = Plain(session.empty() ? 405 : 404, "");
    const bool sent = co_await Reply(client, response, "");
    co_return sent;
  }
  client->exchange = std::make_shared<HttpExchange>(core->executor());
  const auto connection = core->Connect(client->exchange, state, Hears::kChangesToo);
  asio::co_spawn(core->executor(), Watch(client, client->exchange), asio::detached);
  std::optional<Outgoing> nothing;
  co_await Stream(client, nothing);
  Unwatch(*client);
  co_return false;
}

std::optional<HttpResponse> HttpServer::State::Refused(const HttpRequest& request,
                                                       const HttpHeaders& headers) const {
  // SECURITY: before anything else is looked at, and for every method and path.
  if (!HostAllowed(headers.host, options.hosts) || !OriginAllowed(headers.origin, options.hosts)) {
    return Problem(403, {RpcCode::kInvalidRequest, "this host or origin may not call", {}});
  }
  if (!options.token.empty() && !TokenMatches(headers.authorization, options.token)) {
    HttpResponse response =
        Problem(401, {RpcCode::kInvalidRequest, "the bearer token is missing or wrong", {}});
    response.set(http::field::www_authenticate, "Bearer");
    return response;
  }
  const std::string_view target(request.target().data(), request.target().size());
  if (target.substr(0, target.find('?')) != options.path) return Plain(404, "");
  return {};
}

asio::awaitable<bool> HttpServer::State::Handle(std::shared_ptr<Client> client,
                                                HttpRequest request) {
  HttpHeaders headers = HeadersOf(request);
  if (auto refused = Refused(request, headers)) {
    HttpResponse response = *std::move(refused);
    const bool sent = co_await Reply(client, response, "");
    co_return sent;
  }
  const bool modern = headers.version == kModernVersion;
  if (request.method() == http::verb::post) {
    const bool sent = co_await Post(client, std::move(request), std::move(headers));
    co_return sent;
  }
  if (request.method() == http::verb::get && !modern) {
    const bool sent = co_await HearChanges(client, headers.session);
    co_return sent;
  }
  unsigned status = 405;
  if (request.method() == http::verb::delete_ && !modern && !headers.session.empty()) {
    const auto state = FindSession(headers.session);
    status = state != nullptr ? 200 : 404;
    if (state != nullptr) {
      for (auto& [id, cancellation] : std::exchange(state->running, {})) cancellation.Request();
      sessions.pop_front();  // where FindSession put it
    }
  }
  HttpResponse response = Plain(status, "");
  if (status == 405) response.set(http::field::allow, "POST");
  const bool sent = co_await Reply(client, response, "");
  co_return sent;
}

asio::awaitable<bool> HttpServer::State::Post(std::shared_ptr<Client> client, HttpRequest request,
                                              HttpHeaders headers) {
  Message message = DecodeMessage(request.body());
  const auto era = CheckHeaders(headers, message);
  const auto* asked = std::get_if<Request>(&message);
  if (!era) {
    HttpResponse response =
        Plain(400, EncodeMessage(ErrorMessage(
                       asked != nullptr ? std::optional(asked->id) : std::nullopt, era.error())));
    const bool sent = co_await Reply(client, response, "");
    co_return sent;
  }
  // Of the legacy era, everything after `initialize` belongs to a session if it names one.
  std::string session;
  auto state = std::make_shared<ClientState>();
  const bool begins = asked != nullptr && asked->method == "initialize" && *era == Era::kLegacy;
  if (*era == Era::kLegacy && !begins && !headers.session.empty()) {
    state = FindSession(headers.session);
    if (state == nullptr) {
      HttpResponse response = Problem(
          404, {RpcCode::kInvalidRequest, "this session has ended; begin with initialize", {}});
      const bool sent = co_await Reply(client, response, "");
      co_return sent;
    }
  }
  client->exchange = std::make_shared<HttpExchange>(core->executor());
  const auto exchange = client->exchange;
  const auto connection = core->Connect(exchange, state, Hears::kAnswers);
  const bool answered = asked != nullptr;
  connection->Receive(std::move(message), request.body().size(), *era);
  if (begins && state->peer.introduction) session = NewSession(state);
  std::optional<Outgoing> first;
  if (answered || !exchange->empty()) {
    asio::co_spawn(core->executor(), Watch(client, exchange), asio::detached);
    while (!first && !exchange->gone()) first = co_await exchange->Next(std::chrono::hours(1));
  }
  bool sent = false;
  if (!answered && !first) {
    HttpResponse response = Plain(202, "");
    sent = co_await Reply(client, response, "");
  } else if (first && first->answer) {
    HttpResponse response = Plain(StatusOf(*era, first->error), std::move(first->text));
    sent = co_await Reply(client, response, session);
  } else if (first) {
    sent = co_await Stream(client, std::move(first));
  }
  Unwatch(*client);
  // 2026-07-28: hanging up is how a client cancels. Before, it is not.
  if (*era == Era::kModern) connection->Close();
  co_return sent;
}

asio::awaitable<void> HttpServer::State::Attend(std::shared_ptr<Client> client) {
  const auto self = shared_from_this();
  beast::flat_buffer buffer;
  for (bool open = true; open;) {
    http::request_parser<http::string_body> parser;
    parser.body_limit(options.longest_body);
    parser.header_limit(kLongestHeader);
    client->stream.expires_after(kReadLimit);
    boost::system::error_code error;
    auto token = Redirect(error);
    co_await http::async_read(client->stream, buffer, parser, token);
    if (error == http::error::body_limit) {
      HttpResponse response = Problem(
          413, {RpcCode::kInvalidRequest, "the message is too long; send less at once", {}});
      co_await Reply(client, response, "");
    }
    if (error) break;
    client->stream.expires_never();
    HttpRequest request = parser.release();
    const bool keep_alive = request.keep_alive();
    open = co_await Handle(client, std::move(request)) && keep_alive;
  }
  boost::system::error_code ignored;
  client->stream.socket().shutdown(tcp::socket::shutdown_both, ignored);
  client->stream.close();
  clients.erase(client);
}

HttpServer::HttpServer(asio::io_context& loop, std::shared_ptr<ServerCore> core,
                       HttpOptions options)
    : state_(std::make_shared<State>(loop, std::move(core), std::move(options))) {}

HttpServer::~HttpServer() { Stop(); }

Result<std::uint16_t> HttpServer::Listen() {
  boost::system::error_code error;
  const auto address = asio::ip::make_address(state_->options.address, error);
  if (error) {
    return Fail(Errc::kInvalidArgument, "'" + state_->options.address + "' is no address",
                "use 127.0.0.1");
  }
  const tcp::endpoint endpoint(address, state_->options.port);
  tcp::acceptor& acceptor = state_->acceptor;
  acceptor.open(endpoint.protocol(), error);
  if (!error) acceptor.set_option(tcp::acceptor::reuse_address(true), error);
  if (!error) acceptor.bind(endpoint, error);
  if (!error) acceptor.listen(asio::socket_base::max_listen_connections, error);
  if (error) {
    return FailSys(error.value(), "cannot listen on port " + std::to_string(endpoint.port()),
                   "choose another port");
  }
  return acceptor.local_endpoint().port();
}

asio::awaitable<void> HttpServer::Serve() {
  const auto state = state_;
  while (state->acceptor.is_open()) {
    boost::system::error_code error;
    auto token = Redirect(error);
    tcp::socket socket = co_await state->acceptor.async_accept(token);
    if (error == asio::error::operation_aborted) break;
    if (error || state->clients.size() >= state->options.most_connections) continue;
    const auto client = std::make_shared<Client>(std::move(socket));
    state->clients.insert(client);
    asio::co_spawn(state->core->executor(), state->Attend(client), asio::detached);
  }
}

void HttpServer::Stop() {
  boost::system::error_code ignored;
  state_->acceptor.close(ignored);
  for (const auto& client : state_->clients) {
    if (client->exchange) client->exchange->Disconnect();
    client->stream.socket().close(ignored);
  }
  for (auto& [name, client] : state_->sessions) {
    for (auto& [id, cancellation] : std::exchange(client->running, {})) cancellation.Request();
  }
  state_->sessions.clear();
}

}  // namespace igloo::mcp
