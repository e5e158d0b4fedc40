#include "http/connection.h"

#include "http/pch.h"
#include "http/rules.h"

namespace igloo::http {

namespace asio = boost::asio;

namespace {

constexpr std::string_view kContinue = "HTTP/1.1 100 Continue\r\n\r\n";

/// Requests `gone` when the client of `connection` hangs up.
asio::awaitable<void> Watch([[maybe_unused]] std::shared_ptr<Connection> connection,
                            LimitedTransport& transport, Cancellation gone) {
  const bool hung_up = co_await transport.HungUp();
  if (hung_up) gone.Request();
}

}  // namespace

/// One request and its answer.
class Connection::RequestResponder : public Responder {
 public:
  explicit RequestResponder(Connection& connection) : connection_(connection) {}

  asio::awaitable<bool> Reply(Response response) override {
    complete_ = co_await connection_.Reply(std::move(response));
    co_return complete_;
  }

  asio::awaitable<bool> Send(Event event) override {
    std::vector<std::string> parts;
    if (!std::exchange(streaming_, true)) parts.push_back(EventsHead(connection_.after_));
    const bool last = event.last;
    for (std::string& part : EventChunk(std::move(event))) parts.push_back(std::move(part));
    if (last) parts.push_back(EventsEnd());
    const bool sent = co_await connection_.transport_.Write(std::move(parts));
    complete_ = sent && last;
    co_return sent;
  }

  asio::awaitable<std::optional<Upgraded>> Upgrade(Fields fields) override {
    EndWatch();
    std::vector<std::string> parts(1, UpgradeHead(fields));
    const bool sent = co_await connection_.transport_.Write(std::move(parts));
    if (!sent) co_return std::nullopt;
    // The next protocol ends when the handler returns, and the client gets its last bytes.
    connection_.after_ = After::kClose;
    complete_ = true;
    co_return Upgraded{connection_.transport_.transport(), connection_.transport_.TakeAhead()};
  }

  Cancellation gone() const override { return connection_.gone_; }

  void WatchForHangUp() override {
    if (std::exchange(watching_, true)) return;
    asio::co_spawn(connection_.shared_->executor,
                   Watch(connection_.shared_from_this(), connection_.transport_, gone()),
                   asio::detached);
  }
  void EndWatch() {
    if (std::exchange(watching_, false)) connection_.transport_.CancelWait();
  }

  bool complete() const { return complete_; }

 private:
  Connection& connection_;
  bool watching_ = false, streaming_ = false, complete_ = false;
};

Connection::Connection(std::shared_ptr<Shared> shared, UniqueFd socket)
    : shared_(std::move(shared)),
      transport_(shared_->executor, std::move(socket), shared_->options.limits,
                 shared_->options.single_fields) {}

asio::awaitable<void> Connection::Serve() {
  const auto self = shared_from_this();
  const Limits& limits = shared_->options.limits;
  bool sent = true;
  // One that was sent ahead may be there whole when the server stops.
  for (after_ = After::kKeepOpen; sent && after_ == After::kKeepOpen && !stopped_;) {
    auto head = co_await transport_.ReadHead(known_ ? limits.idle_time : limits.head_time);
    if (head) {
      after_ = head->keep_alive ? After::kKeepOpen : After::kClose;
      sent = co_await Handle(*std::move(head));
    } else {
      sent = co_await Explain(std::move(head).error());
    }
  }
  if (sent) co_await transport_.Finish();
  transport_.Close();
}

void Connection::Stop() {
  stopped_ = true;
  Cancellation gone = gone_;
  gone.Request();
  transport_.Close();
}

std::optional<Response> Connection::Refused(const Head& head) {
  // SECURITY: before anything else is looked at, and for every method and path. A browser cannot
  // reach a Unix socket, and clients write there as Host what they like.
  const bool tcp = std::holds_alternative<TcpAddress>(shared_->options.address);
  if ((tcp && !HostAllowed(head.host, shared_->own)) ||
      !OriginAllowed(head.fields.Get("Origin"), shared_->own)) {
    return shared_->handler->Explain({403, "this host or origin may not call"});
  }
  auto refused = shared_->handler->Refuse(head);
  if (refused) return refused;
  // A stream of events is cut into chunks, which came with HTTP/1.1.
  if (head.version < kVersion11) return Response{.status = 505};
  return {};
}

asio::awaitable<bool> Connection::Handle(Head head) {
  if (auto refused = Refused(head)) {
    // SECURITY: the body of a stranger is not even read, so what follows cannot be understood.
    after_ = After::kClose;
    const bool sent = co_await Reply(*std::move(refused));
    co_return sent;
  }
  known_ = true;
  if (head.expects_continue) {
    std::vector<std::string> go_on(1, std::string(kContinue));
    const bool sent = co_await transport_.Write(go_on);
    if (!sent) co_return false;
  }
  auto body = co_await transport_.ReadBody();
  if (!body) {
    const bool sent = co_await Explain(std::move(body).error());
    co_return sent;
  }
  Request request{std::move(head), *std::move(body)};
  const bool sent = co_await Answer(std::move(request));
  co_return sent;
}

asio::awaitable<bool> Connection::Answer(Request request) {
  if (stopped_) co_return false;
  gone_ = Cancellation();
  RequestResponder responder(*this);
  co_await shared_->handler->Serve(std::move(request), responder);
  responder.EndWatch();
  co_return responder.complete();
}

asio::awaitable<bool> Connection::Reply(Response response) {
  std::vector<std::string> parts;
  parts.push_back(ResponseHead(response, after_));
  parts.push_back(std::move(response.body));
  const bool sent = co_await transport_.Write(std::move(parts));
  co_return sent;
}

asio::awaitable<bool> Connection::Explain(Failure failure) {
  after_ = After::kClose;
  if (failure.status == 0) co_return false;
  Response response = shared_->handler->Explain(failure);
  const bool sent = co_await Reply(std::move(response));
  co_return sent;
}

}  // namespace igloo::http
