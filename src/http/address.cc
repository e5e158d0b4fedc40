#include "http/address.h"

#include <arpa/inet.h>
#include <netinet/in.h>

#include <array>
#include <charconv>
#include <optional>

#include "base/overloaded.h"
#include "base/text.h"
#include "base/unix_listener.h"

namespace igloo::http {

namespace {

constexpr std::string_view kUnix = "unix:";
constexpr const char* kForms = "write 127.0.0.1:8730, [::1]:8730 or unix:/path/of/a/socket";

template <class T>
std::optional<T> Number(int family, std::string_view text) {
  T number{};
  if (::inet_pton(family, std::string(text).c_str(), &number) != 1) return std::nullopt;
  return number;
}

/// One spelling for every address, so that names can be compared.
std::string Canonical(const in6_addr& number) {
  std::array<char, INET6_ADDRSTRLEN> text{};
  return ::inet_ntop(AF_INET6, &number, text.data(), text.size());
}

Result<Address> ParseUnix(std::string_view path) {
  IGLOO_TRY(CheckSocketPath(path));
  return UnixSocket{std::string(path)};
}

Result<std::string> ParseHost(std::string_view host) {
  if (host == "localhost") return "127.0.0.1";
  if (Number<in_addr>(AF_INET, host)) return std::string(host);
  if (host.starts_with('[') && host.ends_with(']')) {
    if (const auto number = Number<in6_addr>(AF_INET6, host.substr(1, host.size() - 2))) {
      return Canonical(*number);
    }
  }
  if (Number<in6_addr>(AF_INET6, host)) {
    return Fail(Errc::kInvalidArgument, "'" + Printable(host) + "' needs brackets",
                "write [" + std::string(host) + "] before the port");
  }
  return Fail(Errc::kInvalidArgument, "'" + Printable(host) + "' is no address of this machine",
              std::string("names are not looked up: ") + kForms);
}

}  // namespace

Result<Address> ParseAddress(std::string_view text) {
  if (text.starts_with(kUnix)) return ParseUnix(text.substr(kUnix.size()));
  const std::size_t colon = text.rfind(':');
  const bool inside = text.find(']', colon == std::string_view::npos ? 0 : colon) !=
                      std::string_view::npos;  // the colon is one of the address itself
  if (colon == std::string_view::npos || colon == 0 || inside) {
    return Fail(Errc::kInvalidArgument, "'" + Printable(text) + "' is not an address and a port",
                kForms);
  }
  const std::string digits(text.substr(colon + 1));
  TcpAddress address;
  const char* end = digits.data() + digits.size();
  const auto parsed = std::from_chars(digits.data(), end, address.port);
  if (digits.empty() || parsed.ec != std::errc() || parsed.ptr != end) {
    return Fail(Errc::kInvalidArgument, "'" + Printable(digits) + "' is no port",
                "a port is a number up to 65535; 0 takes any that is free");
  }
  IGLOO_ASSIGN(address.host, ParseHost(text.substr(0, colon)));
  return address;
}

std::string ToText(const Address& address) {
  return std::visit(
      Overloaded{[](const TcpAddress& tcp) {
                   const bool six = tcp.host.find(':') != std::string::npos;
                   return (six ? "[" + tcp.host + "]" : tcp.host) + ":" + std::to_string(tcp.port);
                 },
                 [](const UnixSocket& socket) { return std::string(kUnix) + socket.path; }},
      address);
}

bool IsLoopback(const Address& address) {
  const auto* tcp = std::get_if<TcpAddress>(&address);
  if (tcp == nullptr) return true;
  if (const auto four = Number<in_addr>(AF_INET, tcp->host)) {
    return (ntohl(four->s_addr) >> 24U) == IN_LOOPBACKNET;
  }
  const auto six = Number<in6_addr>(AF_INET6, tcp->host);
  if (!six) return false;
  if (IN6_IS_ADDR_V4MAPPED(&*six)) return six->s6_addr[12] == IN_LOOPBACKNET;
  return IN6_IS_ADDR_LOOPBACK(&*six);
}

OwnNames NamesOf(const TcpAddress& address, std::vector<std::string> more) {
  OwnNames own{.names = std::move(more), .port = address.port};
  const bool six = address.host.find(':') != std::string::npos;
  own.names.push_back(six ? "[" + address.host + "]" : address.host);
  own.any_number = address.host == "0.0.0.0" || address.host == "::";
  return own;
}

bool IsNumber(std::string_view host) {
  if (host.starts_with('[') && host.ends_with(']')) {
    return Number<in6_addr>(AF_INET6, host.substr(1, host.size() - 2)).has_value();
  }
  return Number<in_addr>(AF_INET, host).has_value();
}

}  // namespace igloo::http
