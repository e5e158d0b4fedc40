#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/error.h"

namespace igloo::http {

/// A port of this machine.
struct TcpAddress {
  std::string host = "127.0.0.1";  ///< a number, never a name; IPv6 without brackets
  std::uint16_t port = 0;          ///< 0: any that is free

  bool operator==(const TcpAddress&) const = default;
};

/// A socket that has a name in the file system.
struct UnixSocket {
  std::string path = {};

  bool operator==(const UnixSocket&) const = default;
};

/// Where a server listens.
using Address = std::variant<TcpAddress, UnixSocket>;

/// "127.0.0.1:8730", "[::1]:8730", "localhost:8730" (which is 127.0.0.1) or "unix:/a/path".
Result<Address> ParseAddress(std::string_view text);
/// The text that ParseAddress reads.
std::string ToText(const Address& address);
/// Whether only programs of this machine can reach it. A Unix socket counts: nobody else can.
bool IsLoopback(const Address& address);

/// The names under which a client may know a server. What else a Host header says means that the
/// request was meant for somebody else, or that a web page was led here (DNS rebinding).
struct OwnNames {
  std::vector<std::string> names = {"localhost", "127.0.0.1", "[::1]"};
  /// It listens on every address: each number is one of its own. A page that was led here has a
  /// name, so it does not get in by this.
  bool any_number = false;
  /// Of its own pages, if it had any; 0 where a port means nothing: behind a Unix socket.
  std::uint16_t port = 0;
};
OwnNames NamesOf(const TcpAddress& address, std::vector<std::string> more);

/// Whether `host` is an address as URLs write it: 10.0.0.1, [::1].
bool IsNumber(std::string_view host);

}  // namespace igloo::http
