#include "network/socks5.h"

#include <algorithm>

namespace igloo::network {

namespace {

constexpr std::uint8_t kConnect = 1, kFour = 1, kDomain = 3, kSix = 4;
constexpr std::size_t kFixed = 4, kPortSize = 2;

std::unexpected<SocksProblem> Bad(SocksReply reply, std::string reason) {
  return std::unexpected(SocksProblem{reply, std::move(reason)});
}

std::uint8_t At(std::string_view bytes, std::size_t i) {
  return static_cast<std::uint8_t>(bytes[i]);
}

std::expected<Host, SocksProblem> HostOf(std::uint8_t type, std::string_view bytes) {
  const auto* raw = reinterpret_cast<const std::uint8_t*>(bytes.data());
  if (type == kFour) return FourOf(raw);
  if (type == kSix) return SixOf(raw);
  // SECURITY: a NUL or any other byte that ends the name for a resolver but not for a rule is
  // refused by the one parser of names. Addresses as text are what some clients send.
  auto host = ParseHost(bytes);
  if (!host) return Bad(SocksReply::kFailure, host.error().what);
  return *std::move(host);
}

}  // namespace

SocksResult<bool> ParseSocksGreeting(std::string_view bytes) {
  if (!bytes.empty() && At(bytes, 0) != kSocksVersion) {
    return Bad(SocksReply::kFailure, "this is not SOCKS version 5");
  }
  if (bytes.size() < 2) return std::nullopt;
  const std::size_t count = At(bytes, 1);
  if (count == 0) return Bad(SocksReply::kFailure, "the client offers no method");
  if (bytes.size() < 2 + count) return std::nullopt;
  const bool without = bytes.substr(2, count).find('\0') != std::string_view::npos;
  return Taken<bool>{without, 2 + count};
}

SocksResult<Request> ParseSocksRequest(std::string_view bytes) {
  if (!bytes.empty() && At(bytes, 0) != kSocksVersion) {
    return Bad(SocksReply::kFailure, "this is not SOCKS version 5");
  }
  if (bytes.size() >= 2 && At(bytes, 1) != kConnect) {
    return Bad(SocksReply::kCommandNotSupported, "only CONNECT is served");
  }
  if (bytes.size() >= 3 && At(bytes, 2) != 0) {
    return Bad(SocksReply::kFailure, "the reserved byte is not 0");
  }
  if (bytes.size() < kFixed + 1) return std::nullopt;
  const std::uint8_t type = At(bytes, 3);
  if (type != kFour && type != kDomain && type != kSix) {
    return Bad(SocksReply::kAddressTypeNotSupported, "this type of address is not known");
  }
  const std::size_t begin = type == kDomain ? kFixed + 1 : kFixed;
  const std::size_t size = type == kDomain ? At(bytes, kFixed) : type == kFour ? 4 : 16;
  const std::size_t end = begin + size;
  if (bytes.size() < end + kPortSize) return std::nullopt;
  auto host = HostOf(type, bytes.substr(begin, size));
  if (!host) return std::unexpected(host.error());
  const auto port = static_cast<std::uint16_t>(At(bytes, end) << 8 | At(bytes, end + 1));
  if (port == 0) return Bad(SocksReply::kFailure, "port 0 is none");
  return Taken<Request>{{.host = *std::move(host), .port = port}, end + kPortSize};
}

std::string EncodeSocksReply(SocksReply reply) {
  return {static_cast<char>(kSocksVersion), static_cast<char>(reply), 0, kFour, 0, 0, 0, 0, 0, 0};
}

}  // namespace igloo::network
