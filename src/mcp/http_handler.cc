#include "mcp/http_handler.h"

#include <algorithm>

#include "base/scope_exit.h"
#include "http/rules.h"
#include "http/token.h"
#include "mcp/pch.h"

namespace igloo::mcp {

namespace asio = boost::asio;

namespace {

http::Response Problem(unsigned status, RpcCode code, std::string message,
                       const std::optional<RequestId>& id = {}) {
  return {.status = status,
          .body = EncodeMessage(ErrorMessage(id, RpcError{code, std::move(message), {}}))};
}

bool IsModern(const HttpHeaders& headers) { return headers.version == kModernVersion; }

}  // namespace

/// A message and what is known of its sender.
struct HttpHandler::Posted {
  Message message = {};
  std::size_t bytes = 0;
  Era era = Era::kModern;
  std::shared_ptr<ClientState> state = {};  // shared with the session, if it names one

  const Request* request() const { return std::get_if<Request>(&message); }
  bool Asks(std::string_view method) const {
    return request() != nullptr && request()->method == method;
  }
};

HttpHandler::HttpHandler(asio::any_io_executor executor, std::vector<HttpPrincipal> principals,
                         HttpOptions options)
    : executor_(std::move(executor)), options_(std::move(options)) {
  for (HttpPrincipal& each : principals) {
    clients_.push_back(
        {std::move(each.token), std::move(each.core), HttpSessions(options_.most_sessions)});
  }
}

Result<void> HttpHandler::CheckTokens() const {
  // SECURITY: over a network, whoever reaches the port could run code here.
  const bool open =
      std::ranges::any_of(clients_, [](const HttpClients& each) { return each.token.empty(); });
  if (open && clients_.size() > 1) {
    return Fail(Errc::kInvalidArgument, "one of several principals has no token",
                "give each a token of its own");
  }
  if (!http::IsLoopback(options_.address) && open) {
    return Fail(
        Errc::kInvalidArgument,
        ToText(options_.address) + " can be reached by other machines, and there is no token",
        "set a token, or listen on 127.0.0.1");
  }
  return {};
}

void HttpHandler::EndSessions() {
  for (HttpClients& each : clients_) each.sessions.EndAll();
}

HttpClients* HttpHandler::Find(std::string_view authorization) {
  HttpClients* found = nullptr;
  // SECURITY: all of them are compared, so that the time does not tell which one was nearly right.
  for (HttpClients& each : clients_) {
    if (each.token.empty() || http::TokenMatches(authorization, each.token)) found = &each;
  }
  return found;
}

http::Response HttpHandler::Explain(const http::Failure& failure) {
  return Problem(failure.status, RpcCode::kInvalidRequest, failure.message);
}

std::optional<http::Response> HttpHandler::Refuse(const http::Head& head) {
  if (Find(head.fields.Get("Authorization")) == nullptr) {
    http::Response response =
        Problem(401, RpcCode::kInvalidRequest, "the bearer token is missing or wrong");
    response.fields.Add("WWW-Authenticate", "Bearer");
    return response;
  }
  if (head.path() != options_.path) return http::Response{.status = 404};
  if (head.method == "POST" && !http::IsJson(head.fields.Get("Content-Type"))) {
    return Problem(415, RpcCode::kInvalidRequest, "the Content-Type must be application/json");
  }
  return {};
}

asio::awaitable<void> HttpHandler::Serve(http::Request request, http::Responder& responder) {
  // SECURITY: anew for every request: two principals may share a connection, behind a proxy say.
  HttpClients* who = Find(request.head.fields.Get("Authorization"));
  if (who == nullptr) co_return;  // Refuse lets nobody through to here
  const HttpHeaders headers = HeadersOf(request.head.fields);
  http::Response response{.status = 405, .fields = {{"Allow", "POST"}}};
  if (request.head.method == "POST") {
    auto posted = Read(*who, headers, request.body);
    if (posted) co_return co_await Answer(*who, *std::move(posted), responder);
    response = std::move(posted).error();
  } else if (request.head.method == "GET" && !IsModern(headers) && !headers.session.empty()) {
    co_return co_await HearChanges(*who, headers.session, responder);
  } else if (request.head.method == "DELETE" && !IsModern(headers) && !headers.session.empty()) {
    response = {.status = who->sessions.End(headers.session) ? 200U : 404U};
  }
  co_await responder.Reply(std::move(response));
}

std::expected<HttpHandler::Posted, http::Response> HttpHandler::Read(HttpClients& who,
                                                                     const HttpHeaders& headers,
                                                                     std::string_view body) {
  Posted posted{.message = DecodeMessage(body), .bytes = body.size()};
  const auto era = CheckHeaders(headers, posted.message);
  const Request* asked = posted.request();
  const std::optional<RequestId> id =
      asked != nullptr ? std::optional(asked->id) : std::optional<RequestId>();
  const bool no_room = posted.Asks("subscriptions/listen") && full();
  std::optional<http::Response> refused;
  if (!era) refused = {.status = 400, .body = EncodeMessage(ErrorMessage(id, era.error()))};
  // Of the legacy era, everything after `initialize` belongs to a session if it names one.
  posted.state = std::make_shared<ClientState>();
  if (era == Era::kLegacy && !posted.Asks("initialize") && !headers.session.empty()) {
    posted.state = who.sessions.Find(headers.session);
    if (posted.state == nullptr) {
      refused = Problem(404, RpcCode::kInvalidRequest,
                        "this session has ended; begin with initialize", id);
    }
  }
  if (no_room) {
    refused = Problem(429, RpcCode::kBusy, "too many streams are open; end some of them first", id);
  }
  if (refused) return std::unexpected(*std::move(refused));
  posted.era = *era;
  return posted;
}

asio::awaitable<void> HttpHandler::Answer(HttpClients& who, Posted posted,
                                          http::Responder& responder) {
  const bool answered = posted.request() != nullptr;
  const bool begins = posted.era == Era::kLegacy && posted.Asks("initialize");
  const bool listens = posted.Asks("subscriptions/listen");
  streams_ += listens ? 1 : 0;
  const ScopeExit done([&] { streams_ -= listens ? 1 : 0; });
  // 2026-07-28: hanging up is how a client cancels. Before, it is not, and one that has closed only
  // its sending half waits for its answer.
  if (posted.era == Era::kModern) responder.WatchForHangUp();
  const auto exchange = std::make_shared<HttpExchange>(executor_);
  const auto hook = responder.gone().OnRequest([exchange] { exchange->Disconnect(); });
  const auto dispatcher = who.core->Connect(exchange, posted.state, Hears::kAnswers);
  dispatcher->Receive(std::move(posted.message), posted.bytes, posted.era);
  http::Response response;
  if (begins && posted.state->peer.introduction) {
    response.fields.Add(kSessionHeader, who.sessions.Add(posted.state));
  }
  std::optional<Outgoing> first;
  if (answered || !exchange->empty()) {
    while (!first && !exchange->gone()) first = co_await exchange->Next(std::chrono::hours(1));
  }
  if (!answered && !first) {
    response.status = 202;
    co_await responder.Reply(std::move(response));
  } else if (first && first->answer) {
    response.status = StatusOf(posted.era, first->error);
    response.body = std::move(first->text);
    co_await responder.Reply(std::move(response));
  } else if (first) {
    co_await Stream(exchange, std::move(first), responder);
  }
  if (posted.era == Era::kModern) dispatcher->Close();
}

asio::awaitable<void> HttpHandler::HearChanges(HttpClients& who, std::string session,
                                               http::Responder& responder) {
  const auto state = who.sessions.Find(session);
  if (state == nullptr || full()) {
    http::Response refused{.status = state == nullptr ? 404U : 429U};
    co_await responder.Reply(std::move(refused));
    co_return;
  }
  ++streams_;
  const ScopeExit done([&] { --streams_; });
  responder.WatchForHangUp();
  const auto exchange = std::make_shared<HttpExchange>(executor_);
  const auto hook = responder.gone().OnRequest([exchange] { exchange->Disconnect(); });
  const auto dispatcher = who.core->Connect(exchange, state, Hears::kChangesToo);
  std::optional<Outgoing> nothing;
  co_await Stream(exchange, std::move(nothing), responder);
}

asio::awaitable<void> HttpHandler::Stream(std::shared_ptr<HttpExchange> exchange,
                                          std::optional<Outgoing> first,
                                          http::Responder& responder) {
  while (!exchange->gone()) {
    http::Event event;
    // A comment now and then keeps what lies between awake.
    if (first) event.data = std::move(first->text);
    event.last = first && first->answer;
    const bool last = event.last;
    const bool sent = co_await responder.Send(std::move(event));
    if (!sent || last) co_return;
    first = co_await exchange->Next(options_.keep_alive);
  }
}

}  // namespace igloo::mcp
