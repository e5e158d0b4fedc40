#pragma once

#include <string>
#include <string_view>
#include <variant>

#include "base/error.h"
#include "network/address.h"

namespace igloo::network {

/// A domain name in its one form: lower case, no dot at its end, letters, digits and hyphens.
/// SECURITY: it is the only form that is matched, resolved, recorded and sent, so no two readers
/// can disagree about it.
class Name {
 public:
  /// Refuses, with the reason, what is not plainly a name: other characters, control bytes, empty
  /// or long labels, and what a resolver would take for an address ("0x7f.1", "2130706433").
  static Result<Name> Parse(std::string_view text);

  const std::string& text() const { return text_; }
  auto operator<=>(const Name&) const = default;

 private:
  explicit Name(std::string text) : text_(std::move(text)) {}
  std::string text_;
};

/// Where somebody wants to go.
using Host = std::variant<Address, Name>;

/// A name, an IPv4 address, or an IPv6 address in brackets: what stands in a URI.
Result<Host> ParseHost(std::string_view text);
/// The same, back: an IPv6 address in brackets.
std::string ToText(const Host& host);

/// From 1 to 65535, in decimal, without leading zeros.
Result<std::uint16_t> ParsePort(std::string_view text);

}  // namespace igloo::network
