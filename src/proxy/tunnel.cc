// The part of a client that begins once a tunnel is allowed.

#include "network/client_hello.h"
#include "proxy/client.h"
#include "proxy/waiting.h"

namespace igloo::proxy {

using network::Decision;
using network::Name;

namespace {

constexpr std::chrono::milliseconds kHelloPatience(10'000);
/// A ClientHello in records as small as they may be is longer than itself.
constexpr std::size_t kMostHeld = 2 * network::kLongestClientHello;

/// Why a server's name does not fit the name of the tunnel; empty when it does.
std::string WhyNot(const network::ClientHello& hello, const Name& tunnel) {
  if (!hello.server_name) return {};
  const auto asked = Name::Parse(*hello.server_name);
  if (!asked) return "the server name of the TLS client: " + asked.error().what;
  if (*asked == tunnel) return {};
  return "the TLS client asks for '" + asked->text() + "' in a tunnel to '" + tunnel.text() + "'";
}

}  // namespace

bool Client::checks_names() const {
  // Where an address or everything is allowed, no name was what counted.
  return basis_ == Decision::Basis::kName && current_ &&
         std::holds_alternative<Name>(current_->request.host);
}

asio::awaitable<bool> Client::CheckHello(std::string& first) {
  const Name name = std::get<Name>(current_->request.host);
  const bool must_be_tls = current_->request.port == network::kHttpsPort;
  // A client may open a tunnel ahead and keep it: the time begins with its first byte.
  std::optional<Deadline> deadline;
  for (std::string why;;) {
    if (!first.empty()) {
      if (!network::LooksLikeTls(first)) {
        if (!must_be_tls) co_return true;
        why = "only TLS goes through a tunnel to port 443";
      } else {
        const auto hello = network::ParseClientHello(first);
        if (!hello) why = "not a proper ClientHello: " + hello.error();
        if (hello && *hello) why = WhyNot(**hello, name);
        if (hello && *hello && why.empty()) co_return true;
        if (why.empty() && first.size() >= kMostHeld) why = "the ClientHello is too long";
      }
      if (!deadline) {
        deadline.emplace(shared_.executor, kHelloPatience, [this] { socket_.CancelWaits(); });
      }
    }
    if (!why.empty()) {
      current_->record.refusal = why;
      co_return false;
    }
    const std::size_t count = co_await socket_.Read(first);
    if (count > 0) continue;
    const bool began = !first.empty();
    // Unless the client was stopped: then nobody is to blame.
    if (began && socket_.open()) current_->record.refusal = "the ClientHello did not come whole";
    co_return !began;
  }
}

asio::awaitable<void> Client::TunnelOut(std::shared_ptr<Socket> server, std::string first) {
  if (checks_names()) {
    const bool fits = co_await CheckHello(first);
    if (!fits) {
      Stop();
      co_return;
    }
  }
  const bool sent = co_await server->Write(first);
  if (!sent) {
    Stop();
    co_return;
  }
  current_->record.bytes_out += first.size();
  Free(first);
  co_await PumpToEnd(shared_.pipes, socket_, *server, current_->record.bytes_out);
}

asio::awaitable<void> Client::Tunnel(std::shared_ptr<Socket> server, std::string first) {
  // The server may speak first, so both ways are open at once.
  co_await Both(TunnelOut(server, std::move(first)),
                PumpToEnd(shared_.pipes, *server, socket_, current_->record.bytes_in));
  // A refusal within the tunnel is told as one.
  const bool refused = !current_->record.refusal.empty();
  current_->record.event =
      refused ? network::Record::Event::kRefused : network::Record::Event::kEnded;
  box()->Tell(current_->record);
  current_.reset();
}

}  // namespace igloo::proxy
