#include "network/name.h"

#include <algorithm>
#include <charconv>

#include "base/overloaded.h"
#include "base/text.h"

namespace igloo::network {

namespace {

constexpr std::size_t kLongestName = 253, kLongestLabel = 63;

bool IsDigit(char c) { return c >= '0' && c <= '9'; }
bool IsLetter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool IsHexDigit(char c) { return IsDigit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'); }

std::unexpected<Error> Bad(std::string_view text, std::string why, std::string hint = {}) {
  return Fail(Errc::kInvalidArgument,
              "'" + Printable(Quoted(text, 80)) + "' is no host name: " + std::move(why),
              std::move(hint));
}

/// What resolvers would take for a number of an address.
bool IsNumber(std::string_view label) {
  if (std::ranges::all_of(label, IsDigit)) return true;
  return label.size() >= 2 && label[0] == '0' && (label[1] == 'x' || label[1] == 'X') &&
         std::ranges::all_of(label.substr(2), IsHexDigit);
}

/// Why a label cannot be one; empty when it can.
std::string WhyNot(std::string_view label) {
  if (label.empty()) return "a label is empty";
  if (label.size() > kLongestLabel) return "a label is longer than 63 bytes";
  if (label.front() == '-' || label.back() == '-') return "a label begins or ends with a hyphen";
  for (const char c : label) {
    if (IsLetter(c) || IsDigit(c) || c == '-') continue;
    const auto byte = static_cast<unsigned char>(c);
    if (byte >= 0x80) return "it is not ASCII";
    if (byte < 0x20 || byte == 0x7f) return "it holds a control byte";
    return std::string("it holds '") + c + "'";
  }
  return {};
}

}  // namespace

Result<Name> Name::Parse(std::string_view text) {
  std::string_view rest = text;
  if (rest.ends_with('.')) rest.remove_suffix(1);
  if (rest.empty()) return Bad(text, "it is empty");
  if (rest.size() > kLongestName) return Bad(text, "it is longer than 253 bytes");
  std::string canonical(rest);
  std::ranges::transform(canonical, canonical.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  std::string_view label;
  for (rest = canonical;;) {
    const std::size_t dot = rest.find('.');
    label = rest.substr(0, dot);
    if (std::string why = WhyNot(label); !why.empty()) {
      const bool foreign = why == "it is not ASCII";
      return Bad(text, std::move(why),
                 foreign ? "write it in its ASCII form, which begins with xn--" : "");
    }
    if (dot == std::string_view::npos) break;
    rest.remove_prefix(dot + 1);
  }
  // SECURITY: inet_aton and its kin read 127.1, 0177.0.0.1, 2130706433 and 0x7f.1 as addresses.
  if (IsNumber(label)) {
    return Bad(text, "its last label is a number",
               "write an address as four decimal numbers without leading zeros");
  }
  return Name(std::move(canonical));
}

Result<Host> ParseHost(std::string_view text) {
  if (text.starts_with('[')) {
    const auto inside = text.ends_with(']') ? text.substr(1, text.size() - 2) : std::string_view{};
    const auto address = ParseAddress(inside);
    if (!address || address->family != Family::kSix) {
      return Fail(Errc::kInvalidArgument,
                  "'" + Printable(Quoted(text, 80)) + "' is no IPv6 address in brackets");
    }
    return *address;
  }
  if (text.find(':') != std::string_view::npos) {
    return Fail(Errc::kInvalidArgument, "'" + Printable(Quoted(text, 80)) + "' holds a colon",
                "write an IPv6 address in brackets, like [2001:db8::1]");
  }
  if (const auto address = ParseAddress(text)) return *address;
  IGLOO_ASSIGN(Name name, Name::Parse(text));
  return name;
}

std::string ToText(const Host& host) {
  return std::visit(Overloaded{[](const Name& name) { return name.text(); },
                               [](const Address& address) {
                                 const std::string text = ToText(address);
                                 return address.family == Family::kSix ? "[" + text + "]" : text;
                               }},
                    host);
}

Result<std::uint16_t> ParsePort(std::string_view text) {
  std::uint16_t port = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), port);
  const bool whole = error == std::errc() && end == text.data() + text.size();
  if (!whole || port == 0 || text.front() == '0') {
    return Fail(Errc::kInvalidArgument,
                "'" + Printable(Quoted(text, 80)) + "' is no port from 1 to 65535");
  }
  return port;
}

}  // namespace igloo::network
