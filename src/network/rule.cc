#include "network/rule.h"

#include <algorithm>

#include "base/overloaded.h"
#include "base/text.h"
#include "network/path.h"

namespace igloo::network {

namespace {

constexpr std::string_view kDeny = "deny ";
constexpr std::size_t kLongestRule = 2048, kLongestMethod = 32;

std::unexpected<Error> Bad(std::string why, std::string hint = {}) {
  return Fail(Errc::kInvalidArgument, std::move(why), std::move(hint));
}

Result<std::variant<Network, Name, Below>> ParsePlace(std::string_view text) {
  if (text == "*") return Bad("'*' is every name", "use the tier 'internet' for that");
  if (text.starts_with('[')) {
    if (!text.ends_with(']')) return Bad("a bracket is not closed");
    text = text.substr(1, text.size() - 2);
    IGLOO_ASSIGN(const Network network, ParseNetwork(text));
    if (network.first.family != Family::kSix) return Bad("brackets are for IPv6 addresses");
    return network;
  }
  if (text.starts_with("*.")) {
    IGLOO_ASSIGN(Name name, Name::Parse(text.substr(2)));
    return Below{std::move(name)};
  }
  if (text.find('*') != std::string_view::npos) {
    return Bad("a '*' stands for whole labels in front of a name", "write it like *.example.com");
  }
  if (text.find('/') != std::string_view::npos) {
    if (!ParseAddress(text.substr(0, text.find('/')))) {
      return Bad("a path needs a scheme", "write it like http://example.com/path/*");
    }
    IGLOO_ASSIGN(const Network network, ParseNetwork(text));
    return network;
  }
  IGLOO_ASSIGN(const Host host, ParseHost(text));
  if (const auto* address = std::get_if<Address>(&host)) return Network{*address, address->bits()};
  return std::get<Name>(host);
}

Result<Ports> ParsePorts(std::string_view text) {
  if (text == "*") return Ports{Ports::Kind::kAll};
  IGLOO_ASSIGN(const std::uint16_t port, ParsePort(text));
  return Ports{Ports::Kind::kOne, port};
}

/// "host[:port]" into the rule; an IPv6 address has its colons in brackets.
Result<void> ParsePlaceAndPorts(std::string_view text, Rule& rule) {
  const std::size_t colon = text.rfind(':');
  const bool has_port = colon != std::string_view::npos &&
                        text.substr(colon).find(']') == std::string_view::npos &&
                        (text.starts_with('[') || text.find(':') == colon);
  if (has_port) {
    IGLOO_ASSIGN(rule.ports, ParsePorts(text.substr(colon + 1)));
    text = text.substr(0, colon);
  }
  IGLOO_ASSIGN(rule.place, ParsePlace(text));
  return {};
}

Result<std::vector<std::string>> ParseMethods(std::string_view text) {
  std::vector<std::string> methods;
  while (true) {
    const std::size_t comma = text.find(',');
    const std::string_view method = text.substr(0, comma);
    const bool sound =
        !method.empty() && method.size() <= kLongestMethod &&
        std::ranges::all_of(method, [](char c) { return (c >= 'A' && c <= 'Z') || c == '-'; });
    if (!sound) {
      return Bad("'" + Printable(Quoted(method, 40)) + "' is no method",
                 "write methods in capitals with commas: GET,HEAD http://example.com/path/*");
    }
    methods.emplace_back(method);
    if (comma == std::string_view::npos) return methods;
    text.remove_prefix(comma + 1);
  }
}

Result<RequestPattern> ParsePath(std::string_view path) {
  RequestPattern pattern;
  pattern.below = path.empty() || path.ends_with('*');
  if (path.ends_with('*')) path.remove_suffix(1);
  if (path.empty()) path = "/";
  if (path.find('*') != std::string_view::npos) return Bad("a '*' stands at a path's end only");
  if (path.find('?') != std::string_view::npos) {
    return Bad("a rule's path has no query", "leave '?' and what follows away");
  }
  IGLOO_ASSIGN(pattern.path, CanonicalPath(path));
  return pattern;
}

Result<Rule> ParseUrl(std::string_view methods, Scheme scheme, std::string_view rest) {
  Rule rule;
  // A network's own slash stands in brackets or is refused: "10.0.0.0/8" is a place here.
  const std::size_t bracket = rest.starts_with('[') ? rest.find(']') : 0;
  const std::size_t slash = rest.find('/', bracket == std::string_view::npos ? 0 : bracket);
  const bool has_path = slash != std::string_view::npos;
  IGLOO_ASSIGN(RequestPattern pattern, ParsePath(has_path ? rest.substr(slash) : ""));
  IGLOO_TRY(ParsePlaceAndPorts(rest.substr(0, slash), rule));
  pattern.scheme = scheme;
  if (!methods.empty()) {
    IGLOO_ASSIGN(pattern.methods, ParseMethods(methods));
  }
  if (rule.ports.kind == Ports::Kind::kWeb) {
    rule.ports = {Ports::Kind::kOne, DefaultPort(scheme)};
  }
  rule.request = std::move(pattern);
  return rule;
}

Result<Rule> ParseBare(std::string_view text) {
  if (text.empty()) return Bad("it is empty");
  if (text.size() > kLongestRule) return Bad("it is longer than 2048 bytes");
  const std::size_t space = text.find(' ');
  const bool has_methods = space != std::string_view::npos;
  const std::string_view methods = has_methods ? text.substr(0, space) : std::string_view{};
  const std::string_view rest = has_methods ? text.substr(space + 1) : text;
  for (const Scheme scheme : {Scheme::kHttp, Scheme::kHttps}) {
    const std::string start = std::string(ToText(scheme)) + "://";
    if (rest.starts_with(start)) return ParseUrl(methods, scheme, rest.substr(start.size()));
  }
  if (has_methods) {
    return Bad("methods stand in front of a URL only", "write it like GET http://example.com/*");
  }
  if (rest.find("://") != std::string_view::npos) return Bad("a URL begins with http or https");
  Rule rule;
  IGLOO_TRY(ParsePlaceAndPorts(rest, rule));
  return rule;
}

std::string PlaceText(const Rule& rule) {
  return std::visit(Overloaded{[](const Network& network) {
                                 const std::string text = ToText(network);
                                 return network.first.family == Family::kSix ? "[" + text + "]"
                                                                             : text;
                               },
                               [](const Name& name) { return name.text(); },
                               [](const Below& below) { return "*." + below.name.text(); }},
                    rule.place);
}

}  // namespace

std::string_view ToText(Scheme scheme) { return scheme == Scheme::kHttp ? "http" : "https"; }

bool Ports::Contains(std::uint16_t wanted) const {
  switch (kind) {
    case Kind::kWeb:
      return wanted == kHttpPort || wanted == kHttpsPort;
    case Kind::kOne:
      return wanted == port;
    case Kind::kAll:
      return true;
  }
  return false;
}

bool RequestPattern::Matches(std::string_view method, std::string_view canonical_path) const {
  if (!methods.empty() && std::ranges::find(methods, method) == methods.end()) return false;
  return below ? canonical_path.starts_with(path) : canonical_path == path;
}

Result<Rule> ParseRule(std::string_view text) {
  auto rule = ParseBare(text);
  if (!rule) return Wrap("the network rule '" + Printable(Quoted(text, 120)) + "'", rule.error());
  return rule;
}

Result<Rule> ParseDenied(std::string_view place) {
  IGLOO_ASSIGN(Rule rule, ParseRule(place));
  if (rule.request) {
    return Fail(Errc::kInvalidArgument,
                "'" + Printable(Quoted(place, 120)) + "' cannot be denied: it is a URL",
                "deny the host: in a tunnel nobody sees paths");
  }
  if (rule.ports.kind == Ports::Kind::kWeb) rule.ports = {Ports::Kind::kAll};
  rule.denies = true;
  return rule;
}

Result<Rule> ParseListed(std::string_view text) {
  if (text.starts_with(kDeny)) return ParseDenied(text.substr(kDeny.size()));
  return ParseRule(text);
}

std::string ToText(const Rule& rule) {
  std::string text(rule.denies ? kDeny : "");
  if (rule.request) {
    for (const std::string& method : rule.request->methods) {
      text += (text.empty() ? "" : ",") + method;
    }
    if (!text.empty()) text += ' ';
    text += std::string(ToText(rule.request->scheme)) + "://";
  }
  text += PlaceText(rule);
  const bool plain = rule.ports.kind == Ports::Kind::kWeb ||
                     (rule.request && rule.ports.kind == Ports::Kind::kOne &&
                      rule.ports.port == DefaultPort(rule.request->scheme));
  if (rule.ports.kind == Ports::Kind::kAll) text += ":*";
  if (rule.ports.kind == Ports::Kind::kOne && !plain) {
    text += ":" + std::to_string(rule.ports.port);
  }
  if (rule.request) text += rule.request->path + (rule.request->below ? "*" : "");
  return text;
}

}  // namespace igloo::network
