#include "proxy/client.h"

#include "base/text.h"
#include "network/client_hello.h"
#include "network/socks5.h"
#include "proxy/exchange.h"
#include "proxy/waiting.h"

namespace igloo::proxy {

using network::After;
using network::Decision;
using network::HttpProblem;
using network::HttpResult;
using network::Record;
using network::Request;
using network::RequestHead;
using std::chrono::milliseconds;

namespace {

constexpr milliseconds kHeadPatience(10'000), kIdlePatience(60'000);
constexpr std::size_t kLongestRecorded = 512;

}  // namespace

Client::Client(std::shared_ptr<Box> owner, UniqueFd fd)
    : Connection(std::move(owner)),
      shared_(box()->shared()),
      socket_(shared_.executor, std::move(fd)) {}

void Client::Stop() {
  socket_.Close();
  if (server_) server_->Close();
}

void Client::ReconsiderRules() {
  if (!current_ || current_->record.event != Record::Event::kOpened || current_->for_once) return;
  const auto& rules = *box()->rules();
  Decision decision = rules.Decide(current_->request);
  if (decision.basis == Decision::Basis::kName && current_->address) {
    decision = rules.DecideAddress(*current_->address, current_->request.port);
  }
  if (decision.allowed()) return;
  // SECURITY: a right that is taken back ends what was opened with it.
  current_->record.refusal = "the list was changed: " + decision.refusal;
  current_->record.remedy = decision.remedy;
  Stop();
}

void Client::BeginRecord(const Request& request, Record::Protocol protocol) {
  current_ = Current{.request = request};
  Record& record = current_->record;
  record.protocol = protocol;
  record.sandbox = box()->id();
  record.connection = ++shared_.connections;
  record.host = ToText(request.host);
  record.port = request.port;
  record.method = request.method;
  record.path = request.path.substr(0, std::min(request.path.find('?'), kLongestRecorded));
}

void Client::Refuse(const DialFailure& failure) {
  Record& record = current_->record;
  record.event = Record::Event::kRefused;
  record.refusal = failure.reason;
  record.remedy = failure.remedy;
  box()->Tell(record);
  current_.reset();
}

void Client::RefuseUnread(const std::string& reason, Record::Protocol protocol) {
  box()->Tell({.event = Record::Event::kRefused,
               .protocol = protocol,
               .sandbox = box()->id(),
               .connection = ++shared_.connections,
               .refusal = reason});
}

void Client::EndRecord() {
  if (!current_) return;
  current_->record.event = Record::Event::kEnded;
  box()->Tell(current_->record);
  current_.reset();
}

asio::awaitable<void> Client::Serve() {
  const auto self = shared_from_this();
  // A client that is gone would hold its place until a server says something.
  socket_.WhenBroken(self, [this] { Stop(); });
  std::size_t count = 0;
  {
    // SECURITY: who says nothing would keep a place that others need.
    const Deadline deadline(shared_.executor, kHeadPatience, [this] { socket_.CancelWaits(); });
    count = co_await socket_.Read(pending_);
  }
  if (count > 0 && pending_.front() == network::kSocksVersion) {
    co_await ServeSocks();
  } else if (count > 0) {
    co_await ServeHttp();
  }
  EndRecord();
  Stop();
}

asio::awaitable<HttpResult<RequestHead>> Client::ReadHead(milliseconds patience) {
  // An idle connection keeps no room.
  if (pending_.empty()) {
    Free(pending_);
    const Deadline deadline(shared_.executor, patience, [this] { socket_.CancelWaits(); });
    const std::size_t count = co_await socket_.Read(pending_);
    if (count == 0) co_return std::unexpected(HttpProblem{0, "there is no request"});
  }
  std::optional<Deadline> deadline;  // for a head that comes in pieces
  for (std::size_t scanned = 0;;) {
    const auto end = network::FindHeadEnd(pending_, scanned);
    if (!end) co_return std::unexpected(end.error());
    if (*end) {
      auto head = network::ParseRequestHead(std::string_view(pending_).substr(0, **end));
      pending_.erase(0, **end);
      co_return head;
    }
    if (!deadline) {
      deadline.emplace(shared_.executor, kHeadPatience, [this] { socket_.CancelWaits(); });
    }
    const std::size_t more = co_await socket_.Read(pending_);
    if (more > 0) continue;
    if (deadline->passed()) co_return std::unexpected(HttpProblem{408, "the head came too slowly"});
    co_return std::unexpected(HttpProblem{0, "the client has gone"});
  }
}

asio::awaitable<bool> Client::Answer(unsigned status, std::string reason, std::string remedy,
                                     After after) {
  std::string body = "igloo: " + reason + "\n";
  network::ResponseHead head{.status = status, .reason = Printable(reason)};
  head.headers.push_back({"Content-Type", "text/plain; charset=utf-8"});
  if (!remedy.empty()) {
    body += "the rule that would allow it: " + remedy + "\n";
    // Many programs show nothing but the first line.
    head.reason += "; the rule that would allow it: " + remedy;
    head.headers.push_back({"Igloo-Rule", remedy});
  }
  head.body = {network::Framing::Kind::kLength, body.size()};
  const std::string text = ToText(head, after) + body;
  const bool sent = co_await socket_.Write(text);
  if (sent && after == After::kClose) co_await socket_.Finish();
  co_return sent;
}

asio::awaitable<std::expected<Dialled, DialFailure>> Client::Open(Request request,
                                                                  Record::Protocol protocol) {
  BeginRecord(request, protocol);
  // One list for the whole decision, whatever comes meanwhile.
  const auto rules = box()->rules();
  const Decision decision = rules->Decide(request);
  if (!decision.allowed()) {
    DialFailure failure{DialFailure::Kind::kRefused, decision.refusal, decision.remedy};
    Refuse(failure);
    co_return std::unexpected(failure);
  }
  basis_ = decision.basis;
  current_->record.rule = decision.rule;
  // SECURITY: before anything is waited for: of two who ask at once, one gets it.
  current_->for_once = box()->UseUp(decision.rule);
  if (current_->for_once) {
    // SECURITY: at once, so that no list that igloo sends meanwhile has it again.
    Record used = current_->record;
    used.event = Record::Event::kUsed;
    box()->Tell(std::move(used));
  }
  auto dialled =
      co_await Dial(*shared_.resolver, rules, request.host, request.port, decision.basis);
  if (!dialled) {
    Refuse(dialled.error());
    co_return dialled;
  }
  server_ = dialled->socket;
  current_->address = dialled->address;
  current_->record.address = ToText(dialled->address);
  current_->record.event = Record::Event::kOpened;
  box()->Tell(current_->record);
  // A list that came while the connection was made counts, too.
  if (rules != box()->rules()) ReconsiderRules();
  co_return dialled;
}

asio::awaitable<void> Client::ServeHttp() {
  Exchange exchange(*this);
  for (milliseconds patience = kHeadPatience;; patience = kIdlePatience) {
    auto head = co_await ReadHead(patience);
    if (!head && head.error().status == 0) co_return;
    // What is decided is told: who asks faster than igloo listens has to wait.
    if (box()->backlog().full()) co_await box()->backlog().Room();
    if (!socket_.open()) co_return;
    if (!head) {
      const HttpProblem& problem = head.error();
      RefuseUnread(problem.reason, Record::Protocol::kHttp);
      co_await Answer(problem.status, problem.reason, "", After::kClose);
      co_return;
    }
    if (head->request.way == Request::Way::kTunnel) {
      exchange.Close();
      Request request = head->request;
      auto dialled = co_await Open(request, Record::Protocol::kConnect);
      if (!dialled) {
        const DialFailure& failure = dialled.error();
        const unsigned status = failure.kind == DialFailure::Kind::kRefused ? 403 : 502;
        co_await Answer(status, failure.reason, failure.remedy, After::kClose);
        co_return;
      }
      constexpr std::string_view kEstablished = "HTTP/1.1 200 Connection established\r\n\r\n";
      const bool sent = co_await socket_.Write(kEstablished);
      // SECURITY: whatever follows is the tunnel's, even when it looks like a request.
      if (sent) co_await Tunnel(dialled->socket, std::exchange(pending_, {}));
      co_return;
    }
    RequestHead request = *std::move(head);
    const After after = co_await exchange.Serve(request);
    if (after == After::kClose) co_return;
  }
}

asio::awaitable<void> Client::ServeSocks() {
  using network::SocksReply;
  std::optional<Request> request;
  {
    const Deadline deadline(shared_.executor, kHeadPatience, [this] { socket_.CancelWaits(); });
    // Something was read already; whoever goes on with the loop wants more.
    for (bool greeted = false, wants_more = false; !request; wants_more = true) {
      if (wants_more) {
        const std::size_t count = co_await socket_.Read(pending_);
        if (count == 0) co_return;
      }
      if (!greeted) {
        const auto greeting = network::ParseSocksGreeting(pending_);
        if (!greeting) co_return;
        if (!*greeting) continue;
        const bool accepted = (*greeting)->value;
        pending_.erase(0, (*greeting)->size);
        const bool sent = co_await socket_.Write(accepted ? network::kSocksNoAuthentication
                                                          : network::kSocksNoMethod);
        if (!sent || !accepted) co_return;
        greeted = true;
      }
      auto parsed = network::ParseSocksRequest(pending_);
      if (parsed && !*parsed) continue;
      if (box()->backlog().full()) co_await box()->backlog().Room();
      if (!socket_.open()) co_return;
      if (!parsed) {
        RefuseUnread("this is no request of SOCKS that could be followed",
                     Record::Protocol::kSocks);
        const std::string reply = EncodeSocksReply(parsed.error().reply);
        co_await socket_.Write(reply);
        co_await socket_.Finish();
        co_return;
      }
      pending_.erase(0, (*parsed)->size);
      request = std::move((*parsed)->value);
    }
  }
  auto dialled = co_await Open(*request, Record::Protocol::kSocks);
  SocksReply reply = SocksReply::kSucceeded;
  if (!dialled) {
    using Kind = DialFailure::Kind;
    const Kind kind = dialled.error().kind;
    reply = kind == Kind::kRefused ? SocksReply::kNotAllowed : SocksReply::kHostUnreachable;
  }
  const std::string text = EncodeSocksReply(reply);
  const bool sent = co_await socket_.Write(text);
  if (sent && dialled) co_await Tunnel(dialled->socket, std::exchange(pending_, {}));
  if (!dialled) co_await socket_.Finish();
}

}  // namespace igloo::proxy
