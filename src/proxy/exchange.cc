#include "proxy/exchange.h"

#include <algorithm>

#include "network/secret.h"
#include "proxy/waiting.h"

namespace igloo::proxy {

using network::After;
using network::Body;
using network::Decision;
using network::Framing;
using network::HttpProblem;
using network::HttpResult;
using network::Name;
using network::Record;
using network::Request;
using network::RequestHead;
using network::ResponseHead;

namespace {

/// Below this, a pipe costs more than copying.
constexpr std::uint64_t kWorthAPipe = 64U << 10;

/// A plain request to the domain of a secret goes out encrypted: that is what the secret is for.
void Upgrade(const std::vector<network::Secret>& secrets, RequestHead& head) {
  Request& request = head.request;
  const auto* name = std::get_if<Name>(&request.host);
  if (name == nullptr || request.way != Request::Way::kHttp || request.port != network::kHttpPort) {
    return;
  }
  if (std::ranges::none_of(secrets, [&](const auto& each) { return each.domain == *name; })) return;
  request.way = Request::Way::kHttps;
  request.port = network::kHttpsPort;
}

/// A socket that others hold, too.
class SharedSocket final : public ByteStream {
 public:
  explicit SharedSocket(std::shared_ptr<Socket> socket) : socket_(std::move(socket)) {}
  asio::awaitable<std::size_t> Read(std::string& into) override { return socket_->Read(into); }
  asio::awaitable<bool> Write(std::string_view bytes) override { return socket_->Write(bytes); }
  void Close() override { socket_->Close(); }
  bool IsStale() const override { return socket_->IsStale(); }
  Socket* plain() override { return socket_.get(); }

 private:
  std::shared_ptr<Socket> socket_;  // shared with its client, which closes it
};

}  // namespace

void Exchange::Close() {
  if (server_) server_->stream->Close();
  server_.reset();
}

asio::awaitable<After> Exchange::Refused(unsigned status, std::string reason, std::string remedy,
                                         const RequestHead& head) {
  // A body that nobody reads would be taken for the next request, and one that nobody expects for
  // the next answer.
  const bool over =
      head.body.kind == Framing::Kind::kNone && head.keep_alive && head.request.method != "HEAD";
  const After after = over ? After::kKeepOpen : After::kClose;
  const bool sent = co_await client_.Answer(status, std::move(reason), std::move(remedy), after);
  co_return sent ? after : After::kClose;
}

bool Exchange::CanReuse(const RequestHead& head) {
  const Request& request = head.request;
  if (!server_ || server_->way != request.way || server_->host != request.host ||
      server_->port != request.port || !server_->pending.empty() || server_->stream->IsStale()) {
    return false;
  }
  // The same questions as for a new connection; where the answer is no, that one tells it.
  const auto& rules = *client_.box()->rules();
  const Decision decision = rules.Decide(request);
  if (!decision.allowed()) return false;
  // SECURITY: a rule for one connection is used up where one is opened.
  if (client_.box()->IsForOnce(decision.rule)) return false;
  if (decision.basis != Decision::Basis::kAddress &&
      !rules.DecideAddress(server_->address, request.port).allowed()) {
    return false;
  }
  client_.BeginRecord(request, request.way == Request::Way::kHttp ? Record::Protocol::kHttp
                                                                  : Record::Protocol::kHttps);
  Client::Current& current = *client_.current_;
  current.address = server_->address;
  current.record.rule = decision.rule;
  current.record.address = ToText(server_->address);
  current.record.event = Record::Event::kOpened;
  client_.box()->Tell(current.record, Records::Place::kKnown);
  return true;
}

asio::awaitable<bool> Exchange::Connect(RequestHead& head) {
  const bool encrypted = head.request.way == Request::Way::kHttps;
  Request request = head.request;
  auto dialled = co_await client_.Open(
      request, encrypted ? Record::Protocol::kHttps : Record::Protocol::kHttp);
  if (!dialled) {
    const DialFailure& failure = dialled.error();
    const unsigned status = failure.kind == DialFailure::Kind::kRefused ? 403 : 502;
    after_ = co_await Refused(status, failure.reason, failure.remedy, head);
    co_return false;
  }
  Server server{
      .way = request.way, .host = request.host, .port = request.port, .address = dialled->address};
  if (!encrypted) {
    server.stream = std::make_unique<SharedSocket>(dialled->socket);
    server_ = std::move(server);
    co_return true;
  }
  const auto* name = std::get_if<Name>(&request.host);
  std::string why = "a server is asked for by its name over TLS, not by its address";
  if (name != nullptr) {
    auto stream = co_await client_.shared_.tls->Connect(dialled->socket, *name);
    if (stream) {
      server.stream = *std::move(stream);
      server_ = std::move(server);
      co_return true;
    }
    why = stream.error().what;
  }
  if (client_.socket_.open()) client_.current_->record.refusal = why;
  client_.EndRecord();
  after_ = co_await Refused(502, why, "", head);
  co_return false;
}

asio::awaitable<bool> Exchange::Reach(RequestHead& head) {
  if (CanReuse(head)) co_return true;
  Close();
  const bool reached = co_await Connect(head);
  co_return reached;
}

asio::awaitable<After> Exchange::Serve(RequestHead& head) {
  Upgrade(client_.box()->secrets(), head);
  const bool reached = co_await Reach(head);
  if (!reached) co_return after_;
  const auto& secrets = client_.box()->secrets();
  client_.current_->record.secrets = network::UseSecrets(secrets, head);
  network::AskForPlainText(secrets, head);
  scan_.reset();
  // SECURITY: every answer that the proxy reads, not only those to requests with a secret: a server
  // may show what an earlier request held.
  if (!secrets.empty()) scan_.emplace(client_.box()->patterns());
  after_ = head.keep_alive ? After::kKeepOpen : After::kClose;
  body_sent_ = answered_ = false;
  problem_.clear();
  if (head.body.kind == Framing::Kind::kNone) {
    // Most requests: there is nothing to send while the answer comes.
    co_await Send(head);
    if (!body_sent_) problem_ = "the server does not listen";
    if (body_sent_) co_await Receive(head);
  } else {
    co_await Both(Send(head), Receive(head));
  }
  std::string& refusal = client_.current_->record.refusal;
  // What breaks because the client has gone, or was stopped, is nobody's refusal.
  if (refusal.empty() && client_.socket_.open()) refusal = problem_;
  client_.EndRecord();
  const bool told = answered_;
  if (!problem_.empty() || !body_sent_) {
    Close();
    after_ = After::kClose;
    if (!told && client_.socket_.open()) co_await client_.Answer(502, problem_, "", After::kClose);
    if (told) co_await client_.socket_.Finish();
  }
  if (after_ == After::kClose) Close();
  // Kept until the next request, it holds no room.
  if (server_ && server_->pending.empty()) Free(server_->pending);
  co_return after_;
}

asio::awaitable<std::optional<bool>> Exchange::Advance(ByteStream& from, std::string& pending,
                                                       ByteStream& to, Body& body,
                                                       std::uint64_t& count) {
  Socket* source = from.plain();
  Socket* target = to.plain();
  Free(pending);
  if (body.plain() >= kWorthAPipe && source != nullptr && target != nullptr) {
    const std::uint64_t limit = body.plain(), before = count;
    const Moved moved = co_await Pump(client_.shared_.pipes, *source, *target, limit, count);
    body.Skip(count - before);
    if (moved == Moved::kLimit) co_return std::nullopt;
    co_return moved == Moved::kEnd&& limit == UINT64_MAX;
  }
  const std::size_t read = co_await from.Read(pending);
  if (read == 0) co_return body.plain() == UINT64_MAX;
  co_return std::nullopt;
}

asio::awaitable<bool> Exchange::Move(std::string& head, ByteStream& from, std::string& pending,
                                     ByteStream& to, Body& body, std::uint64_t& count) {
  while (true) {
    const auto taken = body.Take(pending);
    if (!taken) {
      problem_ = taken.error().reason;
      co_return false;
    }
    std::string_view piece = std::string_view(pending).substr(0, *taken);
    if (!head.empty()) piece = head.append(piece);
    const bool sent = co_await to.Write(piece);
    if (!sent) co_return false;
    count += piece.size();
    pending.erase(0, *taken);
    head.clear();
    if (body.ended()) co_return true;
    const auto over = co_await Advance(from, pending, to, body, count);
    if (over) co_return *over;
  }
}

asio::awaitable<void> Exchange::Send(const RequestHead& head) {
  Body body(head.body);
  std::string text = ToText(head);
  body_sent_ = co_await Move(text, client_.socket_, client_.pending_, *server_->stream, body,
                             client_.current_->record.bytes_out);
  // SECURITY: half a request is never left for the next one to complete.
  if (!body_sent_) server_->stream->Close();
}

asio::awaitable<HttpResult<ResponseHead>> Exchange::ReadAnswer(std::string_view method) {
  std::string& pending = server_->pending;
  for (std::size_t scanned = 0;;) {
    const auto end = network::FindHeadEnd(pending, scanned);
    if (!end) co_return std::unexpected(end.error());
    if (*end) {
      std::string text = pending.substr(0, **end);
      pending.erase(0, **end);
      // SECURITY: before it is read, because errors repeat what is no header.
      if (scan_) scan_->CleanHead(text);
      co_return network::ParseResponseHead(text, method);
    }
    const std::size_t count = co_await server_->stream->Read(pending);
    if (count == 0) co_return std::unexpected(HttpProblem{502, "the server has closed"});
  }
}

asio::awaitable<void> Exchange::Receive(const RequestHead& head) {
  ResponseHead answer;
  std::string text;
  while (true) {
    auto read = co_await ReadAnswer(head.request.method);
    if (scan_) TellFound();
    if (!read) {
      problem_ = "no proper answer: " + read.error().reason;
      client_.socket_.CancelWaits();
      co_return;
    }
    answer = *std::move(read);
    if (answer.status == 101) {
      problem_ = "the server changes the protocol, which nobody asked for";
      client_.socket_.CancelWaits();
      co_return;
    }
    const bool ends = answer.body.kind == Framing::Kind::kUntilClose;
    if (ends) after_ = After::kClose;
    text = ToText(answer, after_);
    if (answer.status >= 200) break;
    const bool sent = co_await client_.socket_.Write(text);
    if (!sent) {
      problem_ = "the client has gone";
      server_->stream->Close();
      co_return;
    }
    client_.current_->record.bytes_in += text.size();
  }
  Body body(answer.body);
  bool whole = false;
  if (scan_) {
    auto& used = client_.current_->record.secrets;
    if (!used.empty() && network::IsEncoded(answer)) Tell(Record::Event::kUnsearched, used);
    whole = co_await MoveScanned(text, answer.body);
  } else {
    whole = co_await Move(text, *server_->stream, server_->pending, client_.socket_, body,
                          client_.current_->record.bytes_in);
  }
  answered_ = text.empty();
  if (!whole && problem_.empty()) problem_ = "the answer broke off";
  // The answer may have come before the body's sender had its turn.
  if (!body_sent_) co_await GiveWay();
  if (!body_sent_) client_.socket_.CancelWaits();
  // A server that answers before it has read everything does not want the rest.
  if (!body_sent_ || !answer.keep_alive) server_->stream->Close();
}

}  // namespace igloo::proxy
