#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "network/rules.h"
#include "network/secret.h"

namespace igloo::network {

/// How far a sandbox reaches.
enum class Level : std::uint8_t {
  kNone,      ///< no further than its own loopback
  kAllow,     ///< what its rules allow
  kInternet,  ///< everything but closed ranges, and what its rules open of those
  kHost,      ///< the host's own network: a right that must be named
};
std::string_view ToText(Level level);  ///< "none", "allow", ...
std::optional<Level> FindLevel(std::string_view name);
/// Whether igloo's proxy stands between it and the network.
constexpr bool Proxied(Level level) { return level == Level::kAllow || level == Level::kInternet; }

/// A port of the host's loopback that leads to one of the sandbox's own.
struct PublishedPort {
  std::uint16_t outside = 0, inside = 0;
  auto operator<=>(const PublishedPort&) const = default;
};
/// "HOST:BOX", or one number for both.
Result<PublishedPort> ParsePublished(std::string_view text);
std::string ToText(const PublishedPort& port);

/// What somebody wants a sandbox to reach, and to be reached by.
struct Wanted {
  Level level = Level::kNone;
  std::vector<std::string> rules = {};
  std::vector<Secret> secrets = {};
  std::vector<PublishedPort> publish = {};
  std::vector<std::uint16_t> reach = {};  ///< ports of the host's loopback, by the same numbers
  /// Its code makes packets itself; a right that must be named, with kInternet only.
  bool raw_sockets = false;
  /// Whom the sandbox belongs to: who presented which token to a server. Sandboxes of different
  /// principals never share an igloo-proxy, nor interpreters that wait. Empty: the user who runs
  /// igloo.
  std::string principal = {};

  /// Whether its programs reach others through igloo-proxy.
  bool proxied() const { return Proxied(level); }
  /// Whether igloo-proxy has anything to do for it.
  bool connected() const { return proxied() || !publish.empty() || !reach.empty(); }
  bool operator==(const Wanted&) const = default;
};

/// Where the proxy listens inside.
inline constexpr std::uint16_t kProxyPort = 3128;
/// What one sandbox may be given at most.
inline constexpr std::size_t kMostRules = 100'000, kMostSecrets = 64, kMostPorts = 16;
/// How many connections to one published port there can be at once.
inline constexpr std::uint32_t kSocketsPerPort = 32;

/// Refuses what contradicts itself: rules that cannot be read, ports that two want, secrets without
/// a proxy.
Result<void> Check(const Wanted& wanted);

}  // namespace igloo::network
