#pragma once

// What a sandbox may reach, as people write it:
//
//   listed  := rule | "deny " place        the second beats every rule; without a port: all
//   rule    := place | [methods " "] url
//   place   := host [":" port]             without a port: 80 and 443
//   host    := name | "*." name            the second: everything below, not the name itself
//            | IPv4 ["/" bits] | "[" IPv6 ["/" bits] "]"
//   port    := 1..65535 | "*"
//   methods := METHOD ("," METHOD)*        without: every method
//   url     := ("http" | "https") "://" host [":" port] [path]
//   path    := what begins with "/"; a "*" at its end means everything below
//
// A url's rule is for requests that the proxy reads itself: plain HTTP, and HTTPS that it speaks on
// behalf of the sandbox. It never opens a tunnel, in which no method could be seen.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/error.h"
#include "network/name.h"

namespace igloo::network {

/// Everything below a name.
struct Below {
  Name name;
  auto operator<=>(const Below&) const = default;
};

/// The ports of a rule: those of the web, one, or all.
struct Ports {
  enum class Kind : std::uint8_t { kWeb, kOne, kAll } kind = Kind::kWeb;
  std::uint16_t port = 0;

  bool Contains(std::uint16_t wanted) const;
  bool operator==(const Ports&) const = default;
};

enum class Scheme : std::uint8_t { kHttp, kHttps };
inline constexpr std::uint16_t kHttpPort = 80, kHttpsPort = 443;
constexpr std::uint16_t DefaultPort(Scheme scheme) {
  return scheme == Scheme::kHttp ? kHttpPort : kHttpsPort;
}
std::string_view ToText(Scheme scheme);

/// What a url's rule asks of a request.
struct RequestPattern {
  Scheme scheme = Scheme::kHttp;
  std::vector<std::string> methods = {};  ///< none: every method
  std::string path = {};                  ///< canonical
  bool below = false;                     ///< everything that begins with `path`

  bool Matches(std::string_view method, std::string_view canonical_path) const;
  bool operator==(const RequestPattern&) const = default;
};

struct Rule {
  std::variant<Network, Name, Below> place = Network{};
  Ports ports = {};
  std::optional<RequestPattern> request = {};
  bool denies = false;
  bool operator==(const Rule&) const = default;
};

/// A rule that allows. An error names the rule and what is wrong with it.
Result<Rule> ParseRule(std::string_view text);
/// One that denies: a place.
Result<Rule> ParseDenied(std::string_view place);
/// Either, as a list of rules has them.
Result<Rule> ParseListed(std::string_view text);
/// The same rule in its shortest form.
std::string ToText(const Rule& rule);

}  // namespace igloo::network
