#pragma once

// SOCKS version 5 (RFC 1928): no authentication, CONNECT only.

#include <cstdint>
#include <expected>
#include <optional>
#include <string>
#include <string_view>

#include "network/rules.h"

namespace igloo::network {

inline constexpr std::uint8_t kSocksVersion = 5;

/// What the server answers (RFC 1928, section 6).
enum class SocksReply : std::uint8_t {
  kSucceeded = 0,
  kFailure = 1,
  kNotAllowed = 2,
  kNetworkUnreachable = 3,
  kHostUnreachable = 4,
  kRefused = 5,
  kCommandNotSupported = 7,
  kAddressTypeNotSupported = 8,
};

struct SocksProblem {
  SocksReply reply = SocksReply::kFailure;
  std::string reason = {};
};

/// One message at the begin of `bytes`, and how long it is; empty while it is incomplete.
template <class T>
struct Taken {
  T value = {};
  std::size_t size = 0;
};
template <class T>
using SocksResult = std::expected<std::optional<Taken<T>>, SocksProblem>;

/// The greeting: whether the client can do without authentication.
SocksResult<bool> ParseSocksGreeting(std::string_view bytes);
SocksResult<Request> ParseSocksRequest(std::string_view bytes);

/// Answers to the greeting.
inline constexpr std::string_view kSocksNoAuthentication{"\5\0", 2}, kSocksNoMethod{"\5\xff", 2};

/// A whole reply; the address in it is 0.0.0.0:0, which no client looks at after CONNECT.
std::string EncodeSocksReply(SocksReply reply);

}  // namespace igloo::network
