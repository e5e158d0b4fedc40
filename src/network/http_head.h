#pragma once

// Heads of HTTP/1.1 messages, read strictly: what two readers could understand differently is
// refused, because the proxy and the server behind it would be two readers.

#include <cstdint>
#include <expected>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "network/rules.h"

namespace igloo::network {

inline constexpr std::size_t kLongestHead = 64U << 10;

/// What is answered to a message that is not understood.
struct HttpProblem {
  unsigned status = 400;
  std::string reason = {};
  bool operator==(const HttpProblem&) const = default;
};
template <class T>
using HttpResult = std::expected<T, HttpProblem>;

struct Header {
  std::string name = {}, value = {};
  bool operator==(const Header&) const = default;
};

/// How the end of a message's body is found.
struct Framing {
  enum class Kind : std::uint8_t { kNone, kLength, kChunked, kUntilClose } kind = Kind::kNone;
  std::uint64_t length = 0;  ///< of kLength
  bool operator==(const Framing&) const = default;
};

/// A request to the proxy.
struct RequestHead {
  Request request = {};              ///< what is decided about
  std::string target = {};           ///< path and query, as they are sent; not of a tunnel
  std::vector<Header> headers = {};  ///< without Host, framing and what is meant for one hop
  Framing body = {};
  bool keep_alive = true;
  bool expects_continue = false;
};

/// A server's answer.
struct ResponseHead {
  unsigned status = 0;
  std::string reason = {};
  std::vector<Header> headers = {};  ///< as above
  Framing body = {};
  bool keep_alive = true;
};

/// Where a head ends in `bytes`: behind its empty line. Empty while it is incomplete. `scanned` is
/// kept between calls, so that no byte is looked at twice; it begins at 0. Fails as soon as a byte
/// stands there that no head holds.
HttpResult<std::optional<std::size_t>> FindHeadEnd(std::string_view bytes, std::size_t& scanned,
                                                   std::size_t longest = kLongestHead);

/// Reads a whole head. Requests are CONNECT host:port, an absolute URL, or
/// "/https/host[:port]/path" (also "/http/..."), which is how programs that know only a base URL
/// ask the proxy to fetch it.
HttpResult<RequestHead> ParseRequestHead(std::string_view head);

/// `method` is that of the request that is answered.
HttpResult<ResponseHead> ParseResponseHead(std::string_view head, std::string_view method);

/// As they are sent on: one spelling, whatever was received.
std::string ToText(const RequestHead& head);
/// `after` says whether the connection to the sandbox stays open.
enum class After : std::uint8_t { kKeepOpen, kClose };
std::string ToText(const ResponseHead& head, After after);

}  // namespace igloo::network
