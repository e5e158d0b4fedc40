#include "network/wanted.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/text.h"

namespace igloo::network {
namespace {

/// Each port of the sandbox's loopback leads to one place.
Result<void> CheckPorts(const Wanted& wanted) {
  std::set<std::uint16_t> listened, outside;
  if (wanted.proxied()) listened.insert(kProxyPort);
  for (const std::uint16_t port : wanted.reach) {
    if (port == 0) return Fail(Errc::kInvalidArgument, "there is no port 0 to reach");
    if (listened.insert(port).second) continue;
    return Fail(Errc::kInvalidArgument,
                port == kProxyPort
                    ? "port 3128 cannot be reached: igloo's proxy listens on it inside"
                    : "port " + std::to_string(port) + " is to be reached twice",
                "leave one of them out");
  }
  for (const PublishedPort& port : wanted.publish) {
    if (port.inside == 0 || port.outside == 0) {
      return Fail(Errc::kInvalidArgument, "there is no port 0 to publish");
    }
    if (!outside.insert(port.outside).second) {
      return Fail(Errc::kInvalidArgument,
                  "port " + std::to_string(port.outside) + " of the host is published twice",
                  "choose another one for the second: HOST:BOX");
    }
    // What igloo itself listens on inside is no server of the sandbox's.
    if (!listened.contains(port.inside)) continue;
    return Fail(Errc::kInvalidArgument,
                "port " + std::to_string(port.inside) +
                    " of the sandbox cannot be published: igloo listens on it inside",
                "let the server in the sandbox listen on another port");
  }
  return {};
}

}  // namespace

std::string_view ToText(Level level) {
  switch (level) {
    case Level::kNone:
      return "none";
    case Level::kAllow:
      return "allow";
    case Level::kInternet:
      return "internet";
    case Level::kHost:
      return "host";
  }
  return "?";
}

std::optional<Level> FindLevel(std::string_view name) {
  constexpr Level kLevels[] = {Level::kNone, Level::kAllow, Level::kInternet, Level::kHost};
  const auto* found = std::ranges::find(kLevels, name, [](Level each) { return ToText(each); });
  return found == std::end(kLevels) ? std::nullopt : std::optional(*found);
}

Result<PublishedPort> ParsePublished(std::string_view text) {
  const std::size_t colon = text.find(':');
  const auto outside = ParsePort(text.substr(0, colon));
  const auto inside = colon == std::string_view::npos ? outside : ParsePort(text.substr(colon + 1));
  if (outside && inside) return PublishedPort{.outside = *outside, .inside = *inside};
  return Fail(Errc::kInvalidArgument,
              "'" + Printable(Quoted(text, 80)) + "' does not say what is to be published",
              "write HOST:BOX, a port of this machine and one of the sandbox, or PORT for both");
}

std::string ToText(const PublishedPort& port) {
  return std::to_string(port.outside) + ":" + std::to_string(port.inside);
}

Result<void> Check(const Wanted& wanted) {
  const bool denies = std::ranges::any_of(
      wanted.rules, [](const std::string& rule) { return rule.starts_with("deny "); });
  if (wanted.level == Level::kHost && denies) {
    return Fail(Errc::kInvalidArgument,
                "nobody keeps what is denied from a sandbox in the host's network",
                "use the network 'internet', or take the rules out of 'deny'");
  }
  if (!wanted.proxied() && !wanted.rules.empty()) {
    return Fail(Errc::kInvalidArgument,
                "rules are of no use with the network '" + std::string(ToText(wanted.level)) + "'",
                "use the network 'allow', or leave the rules out");
  }
  if (!wanted.proxied() && !wanted.secrets.empty()) {
    return Fail(Errc::kInvalidArgument,
                "secrets need igloo's proxy, which the network '" +
                    std::string(ToText(wanted.level)) + "' does not have",
                "use the network 'allow', and allow the secret's domain");
  }
  if (wanted.level == Level::kHost && !(wanted.publish.empty() && wanted.reach.empty())) {
    return Fail(Errc::kInvalidArgument,
                "a sandbox in the host's network has all ports of the host already",
                "leave the ports out, or use another network");
  }
  if (wanted.raw_sockets && wanted.level != Level::kInternet) {
    return Fail(Errc::kInvalidArgument,
                "raw sockets are of no use with the network '" + std::string(ToText(wanted.level)) +
                    "': they need a device",
                "use the network 'internet', or leave the raw sockets out");
  }
  if (wanted.rules.size() > kMostRules || wanted.secrets.size() > kMostSecrets ||
      wanted.publish.size() + wanted.reach.size() > kMostPorts) {
    return Fail(Errc::kInvalidArgument, "that are too many rules, secrets or ports for a sandbox",
                fmt::format("at most {} rules, {} secrets (one for each host) and {} ports",
                            kMostRules, kMostSecrets, kMostPorts));
  }
  for (const std::string& rule : wanted.rules) {
    if (const auto parsed = ParseListed(rule); !parsed) return std::unexpected(parsed.error());
  }
  for (const Secret& secret : wanted.secrets) IGLOO_TRY(CheckSecret(secret));
  return CheckPorts(wanted);
}

}  // namespace igloo::network
