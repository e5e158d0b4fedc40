#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/error.h"

namespace igloo::network {

enum class Family : std::uint8_t { kFour, kSix };

/// An address of either family.
struct Address {
  Family family = Family::kFour;
  std::array<std::uint8_t, 16> bytes = {};  ///< INVARIANT: of kFour only the first four are not 0

  unsigned bits() const { return family == Family::kFour ? 32 : 128; }
  auto operator<=>(const Address&) const = default;
};

Address FourOf(const std::uint8_t* bytes);
Address SixOf(const std::uint8_t* bytes);

/// The one textual form of each family: four decimal numbers without leading zeros, or RFC 4291
/// without a zone. What C libraries also take for addresses (octal, hexadecimal, one number, three
/// parts) is none.
std::optional<Address> ParseAddress(std::string_view text);
/// RFC 5952; an IPv6 address without brackets.
std::string ToText(const Address& address);

/// All addresses that begin alike.
struct Network {
  Address first = {};  ///< INVARIANT: bits behind the prefix are 0
  unsigned prefix = 0;

  bool Contains(const Address& address) const;
  auto operator<=>(const Network&) const = default;
};

/// `address` with all bits behind the first `prefix` cleared.
Address Masked(Address address, unsigned prefix);

/// "10.0.0.0/8", "fd00::/8" or one address. Bits behind the prefix are refused: they are a mistake.
Result<Network> ParseNetwork(std::string_view text);
std::string ToText(const Network& network);

}  // namespace igloo::network
