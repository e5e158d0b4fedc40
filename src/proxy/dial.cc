#include "proxy/dial.h"

#include <sys/socket.h>

#include <cerrno>
#include <vector>

#include "proxy/waiting.h"

namespace igloo::proxy {

using network::Address;
using network::Decision;
using network::Host;
using network::Name;
using network::RuleSet;

namespace {

constexpr std::chrono::milliseconds kPatience(10'000);

/// SECURITY: a public address of this very machine is not on the Internet: behind it are services
/// that listen for neighbours. Connecting a datagram socket sends nothing and tells the route.
bool IsThisMachine(const Address& address, std::uint16_t port) {
  const auto probe = NewSocket(address.family, SOCK_DGRAM);
  if (!probe) return true;                                          // nobody knows
  if (ConnectTo(probe->get(), {address, port}) != 0) return false;  // nor will anybody get there
  const auto self = SelfOf(probe->get());
  return !self || self->address == address;
}

Decision Judge(const RuleSet& rules, const Address& address, std::uint16_t port) {
  Decision decision = rules.DecideAddress(address, port);
  if (decision.basis != Decision::Basis::kTier || !IsThisMachine(address, port)) return decision;
  const Host host(address);
  const std::string text = ToText(host);
  return {.refusal = "'" + text + "' port " + std::to_string(port) + " is this machine itself",
          .remedy = text + ":" + std::to_string(port)};
}

/// Connects within the time; errno otherwise.
asio::awaitable<std::expected<std::shared_ptr<Socket>, int>> Connect(Address address,
                                                                     std::uint16_t port) {
  const auto executor = co_await asio::this_coro::executor;
  auto fd = NewSocket(address.family, SOCK_STREAM);
  if (!fd) co_return std::unexpected(fd.error().sys_errno);
  const Endpoint endpoint{address, port};
  const int status = ConnectTo(fd->get(), endpoint);
  const int saved_errno = errno;
  if (status != 0 && saved_errno != EINPROGRESS) co_return std::unexpected(saved_errno);
  auto socket = std::make_shared<Socket>(executor, *std::move(fd));
  const Deadline deadline(executor, kPatience, [&] { socket->CancelWaits(); });
  const int failure = co_await FinishConnect(*socket);
  if (failure != 0) co_return std::unexpected(failure);
  // SECURITY: what was looked at is what is spoken to, whatever lies between the two calls.
  if (PeerOf(socket->fd()) != endpoint) co_return std::unexpected(ECONNABORTED);
  co_return socket;
}

}  // namespace

asio::awaitable<std::expected<Dialled, DialFailure>> Dial(Resolver& resolver,
                                                          std::shared_ptr<const RuleSet> rules,
                                                          const Host& host, std::uint16_t port,
                                                          Decision::Basis basis) {
  using Kind = DialFailure::Kind;
  std::vector<Address> addresses;
  const auto* name = std::get_if<Name>(&host);
  if (name != nullptr) {
    auto resolved = co_await resolver.Resolve(*name);
    if (!resolved) co_return std::unexpected(DialFailure{Kind::kUnresolved, resolved.error().what});
    addresses = *std::move(resolved);
  } else {
    addresses.push_back(std::get<Address>(host));
  }
  DialFailure failure{Kind::kUnresolved, "'" + ToText(host) + "' has no address"};
  for (const Address& address : addresses) {
    // A rule that names the address itself was found already.
    const bool named = basis == Decision::Basis::kAddress;
    const Decision decision = named ? Decision{.basis = basis} : Judge(*rules, address, port);
    if (!decision.allowed()) {
      // Words about an address that was tried are worth more.
      if (failure.kind == Kind::kUnreachable) continue;
      const std::string leads = name != nullptr ? "'" + name->text() + "' leads to " : "";
      failure = {Kind::kRefused, leads + decision.refusal, decision.remedy};
      continue;
    }
    auto socket = co_await Connect(address, port);
    if (socket) co_return Dialled{*std::move(socket), address};
    failure = {Kind::kUnreachable, "cannot connect to " + ToText(host) + " at " + ToText(address) +
                                       ": " + ErrnoText(socket.error())};
  }
  co_return std::unexpected(failure);
}

}  // namespace igloo::proxy
