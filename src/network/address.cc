#include "network/address.h"

#include <arpa/inet.h>

#include <algorithm>
#include <charconv>

#include "base/text.h"

namespace igloo::network {

namespace {

constexpr std::size_t kLongestText = INET6_ADDRSTRLEN;

/// A decimal number without sign, leading zeros or anything behind it.
std::optional<unsigned> Decimal(std::string_view text, unsigned most) {
  unsigned value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool whole = error == std::errc() && end == text.data() + text.size();
  if (!whole || value > most || (text.size() > 1 && text.front() == '0')) return std::nullopt;
  return value;
}

std::optional<Address> ParseFour(std::string_view text) {
  Address address;
  for (std::size_t i = 0; i < 4; ++i) {
    const std::size_t dot = text.find('.');
    if ((dot == std::string_view::npos) != (i == 3)) return std::nullopt;
    const auto part = Decimal(text.substr(0, dot), 255);
    if (!part) return std::nullopt;
    address.bytes[i] = static_cast<std::uint8_t>(*part);
    if (i < 3) text.remove_prefix(dot + 1);
  }
  return address;
}

}  // namespace

Address FourOf(const std::uint8_t* bytes) {
  Address address;
  std::copy_n(bytes, 4, address.bytes.begin());
  return address;
}

Address SixOf(const std::uint8_t* bytes) {
  Address address{.family = Family::kSix};
  std::copy_n(bytes, 16, address.bytes.begin());
  return address;
}

std::optional<Address> ParseAddress(std::string_view text) {
  if (text.empty() || text.size() >= kLongestText) return std::nullopt;
  if (text.find(':') == std::string_view::npos) return ParseFour(text);
  // inet_pton reads up to a NUL.
  if (text.find('\0') != std::string_view::npos) return std::nullopt;
  Address address{.family = Family::kSix};
  const std::string copy(text);
  if (::inet_pton(AF_INET6, copy.c_str(), address.bytes.data()) != 1) return std::nullopt;
  return address;
}

std::string ToText(const Address& address) {
  char text[kLongestText] = {};
  ::inet_ntop(address.family == Family::kFour ? AF_INET : AF_INET6, address.bytes.data(), text,
              sizeof text);
  return text;
}

Address Masked(Address address, unsigned prefix) {
  for (unsigned i = 0; i < address.bytes.size(); ++i) {
    const unsigned kept = prefix <= i * 8 ? 0 : std::min(8U, prefix - i * 8);
    address.bytes[i] &= static_cast<std::uint8_t>(0xff00U >> kept);
  }
  return address;
}

bool Network::Contains(const Address& address) const {
  return address.family == first.family && Masked(address, prefix) == first;
}

Result<Network> ParseNetwork(std::string_view text) {
  const std::size_t slash = text.find('/');
  const auto address = ParseAddress(text.substr(0, slash));
  if (!address) {
    return Fail(Errc::kInvalidArgument,
                "'" + Printable(Quoted(text)) + "' is no address in its strict form",
                "write four decimal numbers without leading zeros, or an IPv6 address");
  }
  if (slash == std::string_view::npos) return Network{*address, address->bits()};
  const auto prefix = Decimal(text.substr(slash + 1), address->bits());
  if (!prefix) {
    return Fail(Errc::kInvalidArgument, "'" + Printable(Quoted(text)) +
                                            "' has no prefix length from 0 to " +
                                            std::to_string(address->bits()));
  }
  const Network network{Masked(*address, *prefix), *prefix};
  if (network.first != *address) {
    return Fail(Errc::kInvalidArgument, "'" + std::string(text) + "' has bits behind its prefix",
                "write '" + ToText(network) + "'");
  }
  return network;
}

std::string ToText(const Network& network) {
  const std::string text = ToText(network.first);
  return network.prefix == network.first.bits() ? text
                                                : text + "/" + std::to_string(network.prefix);
}

}  // namespace igloo::network
