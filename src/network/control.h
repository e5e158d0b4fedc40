#pragma once

// What igloo and igloo-proxy tell each other: JSON objects, bounded and versioned. An order is one
// message; news come one or several in a message, a line each.
// Descriptors travel beside it (channel.h). igloo-proxy reads what hostile code sends, so igloo
// believes it as little as it believes igloo-init.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "network/rules.h"
#include "network/secret.h"
#include "network/wanted.h"

namespace igloo::network {

/// Both sides are installed together: another number is a mistake and refused.
inline constexpr std::int64_t kControlVersion = 1;
inline constexpr std::size_t kLongestMessage = 8U << 20;
inline constexpr std::uint32_t kMostConnections = 1024;

/// A sandbox whose programs reach the network through a listener made inside it. Descriptor: the
/// listener; none: it has forwards alone.
struct AddSandbox {
  std::string sandbox = {};
  Tier tier = Tier::kAllow;
  std::vector<std::string> rules = {};
  std::vector<Secret> secrets = {};
  std::uint32_t max_connections = kMostConnections;
};

/// The whole new list. One that cannot be read closes the sandbox's network and is an error.
struct ReplaceRules {
  std::string sandbox = {};
  Tier tier = Tier::kAllow;
  std::vector<std::string> rules = {};
  std::vector<std::string> once = {};  ///< each for one connection, in its shortest form
};

/// A port of one side that leads to a port of the other side's loopback.
struct AddForward {
  enum class Kind : std::uint8_t {
    kPublish,  ///< descriptors: a listener outside, then sockets made inside, not connected
    kReach,    ///< descriptor: a listener inside
  } kind = Kind::kPublish;
  std::string sandbox = {};
  std::uint16_t port = 0;  ///< where it leads to, on 127.0.0.1 of the other side
};

/// Ends all that a sandbox has under way.
struct RemoveSandbox {
  std::string sandbox = {};
};

using Command = std::variant<AddSandbox, ReplaceRules, AddForward, RemoveSandbox>;
struct Order {
  std::uint64_t number = 0;  ///< comes back with the answer
  Command command = {};
};

/// The wall stands; orders are taken.
struct Ready {
  std::int64_t version = kControlVersion;
};
struct Done {
  std::uint64_t order = 0;
};
struct Failed {
  std::uint64_t order = 0;
  std::string what = {}, hint = {};
};

/// One decision, and how it ended.
struct Record {
  enum class Event : std::uint8_t {
    kRefused,
    kOpened,
    kEnded,
    kUsed,        ///< a rule for one connection is used up, whatever becomes of that
    kReturned,    ///< the server sent the values of `secrets` back; they were taken out
    kUnsearched,  ///< the answer was compressed: nobody could look for the values of `secrets` in
                  ///< it
  } event = Event::kRefused;
  enum class Protocol : std::uint8_t {
    kConnect,
    kHttp,
    kHttps,
    kSocks,
    kPublish,
    kReach,
    kDevice,  ///< that there was one: what goes through it is not looked at
  } protocol = Protocol::kConnect;
  std::string sandbox = {};
  std::uint64_t connection = 0;  ///< the same number for what belongs together
  std::int64_t time_ms = 0;      ///< since 1970
  std::string host = {};         ///< canonical: a name, or an address
  std::uint16_t port = 0;
  std::string address = {};  ///< the one that was connected to
  std::string method = {}, path = {};
  std::string rule = {};  ///< that allowed it; empty: the tier
  std::string refusal = {}, remedy = {};
  std::vector<std::string> secrets = {};  ///< names of those that were used
  std::uint64_t bytes_out = 0, bytes_in = 0;
  std::uint64_t lost = 0;  ///< records before this one that could not be sent
  bool operator==(const Record&) const = default;
};
std::string_view ToText(Record::Event event);        ///< "refused", "opened", ...
std::string_view ToText(Record::Protocol protocol);  ///< "connect", "http", ...
std::optional<Record::Event> FindEvent(std::string_view text);
std::optional<Record::Protocol> FindProtocol(std::string_view text);

using News = std::variant<Ready, Done, Failed, Record>;

std::string Encode(const Order& order);
std::string Encode(const News& news);
/// Anything unexpected is kProtocol: unknown keys, missing ones, wrong types, too much.
Result<Order> DecodeOrder(std::string_view text);
/// Not one of several is believed when one is wrong.
Result<std::vector<News>> DecodeNews(std::string_view text);

}  // namespace igloo::network
