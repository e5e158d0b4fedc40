#include "mcp/http_connection.h"

#include "base/scope_exit.h"
#include "mcp/pch.h"

namespace igloo::mcp {

namespace asio = boost::asio;

namespace {

constexpr unsigned kOldestVersion = 11;
constexpr std::string_view kContinue = "HTTP/1.1 100 Continue\r\n\r\n";

HttpResponse Problem(unsigned status, RpcCode code, std::string message,
                     const std::optional<RequestId>& id = {}) {
  return {.status = status,
          .body = EncodeMessage(ErrorMessage(id, RpcError{code, std::move(message), {}}))};
}

bool IsModern(const HttpHead& head) { return head.headers.version == kModernVersion; }

}  // namespace

HttpClients* HttpShared::Find(std::string_view authorization) {
  HttpClients* found = nullptr;
  // SECURITY: all of them are compared, so that the time does not tell which one was nearly right.
  for (HttpClients& each : clients) {
    if (each.token.empty() || TokenMatches(authorization, each.token)) found = &each;
  }
  return found;
}

HttpConnection::HttpConnection(std::shared_ptr<HttpShared> shared, UniqueFd socket)
    : shared_(std::move(shared)), stream_(shared_->executor, std::move(socket), shared_->options) {}

asio::awaitable<void> HttpConnection::Serve() {
  const auto self = shared_from_this();
  bool sent = true;
  for (after_ = After::kKeepOpen; sent && after_ == After::kKeepOpen;) {
    const HttpOptions& options = shared_->options;
    auto head = co_await stream_.ReadHead(known_ ? options.idle_limit : options.head_limit);
    if (head) {
      after_ = head->keep_alive ? After::kKeepOpen : After::kClose;
      HttpHead request = *std::move(head);
      sent = co_await Handle(request);
    } else {
      HttpFailure failure = std::move(head).error();
      sent = co_await Tell(failure);
    }
  }
  if (sent) co_await stream_.Finish();
  stream_.Close();
}

void HttpConnection::Stop() {
  if (exchange_) exchange_->Disconnect();
  stream_.Close();
}

std::optional<HttpResponse> HttpConnection::Refused(const HttpHead& head) {
  const HttpOptions& options = shared_->options;
  const HttpHeaders& headers = head.headers;
  who_ = nullptr;
  // SECURITY: before anything else is looked at, and for every method and path. A browser cannot
  // reach a Unix socket, and clients write there as Host what they like.
  const bool tcp = std::holds_alternative<TcpAddress>(options.address);
  if ((tcp && !HostAllowed(headers.host, shared_->own)) ||
      !OriginAllowed(headers.origin, shared_->own)) {
    return Problem(403, RpcCode::kInvalidRequest, "this host or origin may not call");
  }
  // SECURITY: anew for every request: two principals may share a connection, behind a proxy say.
  who_ = shared_->Find(headers.authorization);
  if (who_ == nullptr) {
    HttpResponse response =
        Problem(401, RpcCode::kInvalidRequest, "the bearer token is missing or wrong");
    response.fields.emplace_back("WWW-Authenticate", "Bearer");
    return response;
  }
  // A stream of events is cut into chunks, which came with HTTP/1.1.
  if (head.version < kOldestVersion) return HttpResponse{.status = 505};
  const std::string_view target(head.target);
  if (target.substr(0, target.find('?')) != options.path) return HttpResponse{.status = 404};
  if (head.method == "POST" && !IsJson(headers.content_type)) {
    return Problem(415, RpcCode::kInvalidRequest, "the Content-Type must be application/json");
  }
  return {};
}

asio::awaitable<bool> HttpConnection::Handle(HttpHead head) {
  if (auto refused = Refused(head)) {
    // SECURITY: the body of a stranger is not even read, so what follows cannot be understood.
    after_ = After::kClose;
    HttpResponse response = *std::move(refused);
    const bool sent = co_await Reply(response);
    co_return sent;
  }
  known_ = true;
  if (head.method == "POST") {
    const bool sent = co_await Post(head);
    co_return sent;
  }
  auto body = co_await stream_.ReadBody();
  if (!body) {
    HttpFailure failure = std::move(body).error();
    const bool sent = co_await Tell(failure);
    co_return sent;
  }
  if (head.method == "GET" && !IsModern(head)) {
    const bool sent = co_await HearChanges(head.headers.session);
    co_return sent;
  }
  HttpResponse response = Other(head);
  const bool sent = co_await Reply(response);
  co_return sent;
}

HttpResponse HttpConnection::Other(const HttpHead& head) {
  if (head.method == "DELETE" && !IsModern(head) && !head.headers.session.empty()) {
    return {.status = who_->sessions.End(head.headers.session) ? 200U : 404U};
  }
  return {.status = 405, .fields = {{"Allow", "POST"}}};
}

asio::awaitable<bool> HttpConnection::Reply(HttpResponse response) {
  std::vector<std::string> parts;
  parts.push_back(ResponseHead(response, after_));
  parts.push_back(std::move(response.body));
  const bool sent = co_await stream_.Write(std::move(parts));
  co_return sent;
}

asio::awaitable<bool> HttpConnection::Tell(HttpFailure failure) {
  after_ = After::kClose;
  if (failure.status == 0) co_return false;
  HttpResponse response = Problem(failure.status, RpcCode::kInvalidRequest, failure.message);
  const bool sent = co_await Reply(response);
  co_return sent;
}

asio::awaitable<bool> HttpConnection::Post(HttpHead head) {
  if (head.expects_continue) {
    std::vector<std::string> go_on(1, std::string(kContinue));
    const bool sent = co_await stream_.Write(go_on);
    if (!sent) co_return false;
  }
  auto body = co_await stream_.ReadBody();
  if (!body) {
    HttpFailure failure = std::move(body).error();
    const bool sent = co_await Tell(failure);
    co_return sent;
  }
  Message message = DecodeMessage(*body);
  const auto era = CheckHeaders(head.headers, message);
  const auto* asked = std::get_if<Request>(&message);
  const std::optional<RequestId> id =
      asked != nullptr ? std::optional(asked->id) : std::optional<RequestId>();
  std::optional<HttpResponse> refused;
  if (!era) refused = {.status = 400, .body = EncodeMessage(ErrorMessage(id, era.error()))};
  // Of the legacy era, everything after `initialize` belongs to a session if it names one.
  auto state = std::make_shared<ClientState>();
  const bool begins = asked != nullptr && asked->method == "initialize";
  if (era == Era::kLegacy && !begins && !head.headers.session.empty()) {
    state = who_->sessions.Find(head.headers.session);
    if (state == nullptr) {
      refused = Problem(404, RpcCode::kInvalidRequest,
                        "this session has ended; begin with initialize", id);
    }
  }
  const bool listens = asked != nullptr && asked->method == "subscriptions/listen";
  if (listens && shared_->streams >= shared_->options.most_streams) {
    refused = Problem(429, RpcCode::kBusy, "too many streams are open; end some of them first", id);
  }
  if (refused) {
    HttpResponse response = *std::move(refused);
    const bool sent = co_await Reply(response);
    co_return sent;
  }
  if (listens) ++shared_->streams;
  const ScopeExit done([&, shared = shared_] { shared->streams -= listens ? 1 : 0; });
  const Era known = *era;
  const std::size_t bytes = body->size();
  const bool sent = co_await Answer(std::move(message), bytes, known, state);
  co_return sent;
}

asio::awaitable<bool> HttpConnection::Answer(Message message, std::size_t bytes, Era era,
                                             std::shared_ptr<ClientState> state) {
  const auto* asked = std::get_if<Request>(&message);
  const bool answered = asked != nullptr;
  const bool begins = answered && era == Era::kLegacy && asked->method == "initialize";
  // 2026-07-28: hanging up is how a client cancels. Before, it is not, and one that has closed only
  // its sending half waits for its answer.
  BeginExchange(era == Era::kModern ? HangUp::kEnds : HangUp::kMeansNothing);
  const auto exchange = exchange_;
  const auto connection = who_->core->Connect(exchange, state, Hears::kAnswers);
  connection->Receive(std::move(message), bytes, era);
  HttpResponse response;
  if (begins && state->peer.introduction) {
    response.fields.emplace_back("Mcp-Session-Id", who_->sessions.Add(state));
  }
  std::optional<Outgoing> first;
  if (answered || !exchange->empty()) {
    while (!first && !exchange->gone()) first = co_await exchange->Next(std::chrono::hours(1));
  }
  bool sent = false;
  if (!answered && !first) {
    response.status = 202;
    sent = co_await Reply(response);
  } else if (first && first->answer) {
    response.status = StatusOf(era, first->error);
    response.body = std::move(first->text);
    sent = co_await Reply(std::move(response));
  } else if (first) {
    sent = co_await Stream(std::move(first));
  }
  EndExchange();
  if (era == Era::kModern) connection->Close();
  co_return sent;
}

asio::awaitable<bool> HttpConnection::HearChanges(std::string session) {
  const auto state = who_->sessions.Find(session);
  HttpResponse refused{.status = session.empty() ? 405U : 404U};
  if (session.empty()) refused.fields.emplace_back("Allow", "POST");
  const bool full = shared_->streams >= shared_->options.most_streams;
  if (state != nullptr && full) refused.status = 429;
  if (state == nullptr || full) {
    const bool sent = co_await Reply(refused);
    co_return sent;
  }
  ++shared_->streams;
  const ScopeExit done([shared = shared_] { --shared->streams; });
  BeginExchange(HangUp::kEnds);
  const auto connection = who_->core->Connect(exchange_, state, Hears::kChangesToo);
  std::optional<Outgoing> nothing;
  co_await Stream(std::move(nothing));
  EndExchange();
  co_return false;
}

asio::awaitable<bool> HttpConnection::Stream(std::optional<Outgoing> first) {
  const auto exchange = exchange_;
  std::vector<std::string> parts(1, EventsHead(after_));
  while (!exchange->gone()) {
    // A comment now and then keeps what lies between awake.
    for (std::string& part : EventChunk(first ? std::move(first->text) : std::string())) {
      parts.push_back(std::move(part));
    }
    const bool last = first && first->answer;
    if (last) parts.push_back(EventsEnd());
    const bool sent = co_await stream_.Write(std::exchange(parts, {}));
    if (!sent || last) co_return sent;
    first = co_await exchange->Next(shared_->options.keep_alive);
  }
  co_return false;
}

void HttpConnection::BeginExchange(HangUp hang_up) {
  exchange_ = std::make_shared<HttpExchange>(shared_->executor);
  if (hang_up == HangUp::kMeansNothing) return;
  asio::co_spawn(shared_->executor, Watch(exchange_), asio::detached);
}

void HttpConnection::EndExchange() {
  stream_.CancelWait();
  exchange_.reset();
}

asio::awaitable<void> HttpConnection::Watch(std::shared_ptr<HttpExchange> exchange) {
  const auto self = shared_from_this();
  const bool gone = co_await stream_.HungUp();
  if (gone) exchange->Disconnect();
}

}  // namespace igloo::mcp
