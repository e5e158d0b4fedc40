#pragma once

#include <expected>
#include <memory>
#include <string>

#include "network/rules.h"
#include "proxy/resolver.h"
#include "proxy/socket.h"

namespace igloo::proxy {

/// A connection to an address that was looked at.
struct Dialled {
  std::shared_ptr<Socket> socket = {};
  network::Address address = {};
};

struct DialFailure {
  enum class Kind : std::uint8_t { kRefused, kUnresolved, kUnreachable } kind = Kind::kRefused;
  std::string reason = {};
  std::string remedy = {};  ///< of kRefused: the rule that would allow it
};

/// Connects to a host that the rules allow on this basis, at an address that they allow, too. Every
/// address that a name leads to is looked at, and the connection goes to exactly the one that was.
asio::awaitable<std::expected<Dialled, DialFailure>> Dial(
    Resolver& resolver, std::shared_ptr<const network::RuleSet> rules, const network::Host& host,
    std::uint16_t port, network::Decision::Basis basis);

}  // namespace igloo::proxy
