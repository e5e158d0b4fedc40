#include "environment/device.h"

#include <fcntl.h>
#include <ifaddrs.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <sstream>

#include "base/file.h"
#include "base/spawn.h"
#include "base/text.h"
#include "base/unique_fd.h"
#include "network/address.h"
#include "network/ranges.h"
#include "network/rule.h"

namespace igloo::environment {
namespace {

constexpr const char* kTunnels = "/dev/net/tun";

/// SECURITY: what listens at an address of this machine often trusts whoever can reach it, and a
/// public one lies in no closed range.
Result<std::vector<std::string>> OwnAddresses() {
  ifaddrs* first = nullptr;
  if (::getifaddrs(&first) != 0) {
    const int saved_errno = errno;
    return FailSys(saved_errno, "cannot list the addresses of this machine");
  }
  const std::unique_ptr<ifaddrs, decltype(&::freeifaddrs)> all(first, ::freeifaddrs);
  std::vector<std::string> own;
  for (const ifaddrs* each = first; each != nullptr; each = each->ifa_next) {
    if (each->ifa_addr == nullptr || each->ifa_addr->sa_family != AF_INET) continue;
    const auto* address = reinterpret_cast<const sockaddr_in*>(each->ifa_addr);
    const network::Address four =
        network::FourOf(reinterpret_cast<const std::uint8_t*>(&address->sin_addr));
    if (network::ClosedRange(four).empty()) own.push_back(network::ToText(four) + "/32");
  }
  std::ranges::sort(own);
  own.erase(std::ranges::unique(own).begin(), own.end());
  return own;
}

bool IsClosed(const network::Address& address, const std::vector<std::string>& closed) {
  return std::ranges::any_of(closed, [&](const std::string& text) {
    const auto network = network::ParseNetwork(text);
    return network && network->Contains(address);
  });
}

/// What rules deny, as networks of IPv4; IPv6 does not pass a device at all.
Result<std::vector<std::string>> DeniedNetworks(const std::vector<std::string>& rules) {
  std::vector<std::string> networks;
  for (const std::string& text : rules) {
    IGLOO_ASSIGN(const network::Rule rule, network::ParseListed(text));
    if (!rule.denies) continue;
    const auto* place = std::get_if<network::Network>(&rule.place);
    if (place == nullptr || rule.ports.kind != network::Ports::Kind::kAll) {
      return Fail(Errc::kFailedPrecondition,
                  "a device knows only addresses, and '" + network::ToText(rule) + "' is kept",
                  "the proxy keeps such rules; deny addresses with all ports to have a device");
    }
    if (place->first.family == network::Family::kFour) networks.push_back(network::ToText(*place));
  }
  return networks;
}

std::optional<network::Address> FourAt(std::string_view text) {
  const auto address = network::ParseAddress(text);
  return address && address->family == network::Family::kFour ? address : std::nullopt;
}

}  // namespace

std::string ResolverFor(std::string_view configured, std::string_view resolv_conf,
                        const std::vector<std::string>& closed) {
  std::string text(configured);
  std::ranges::replace(text, ',', ' ');
  std::istringstream words(text);
  for (std::string word; words >> word;) {
    const auto address = FourAt(word);
    if (address && !IsClosed(*address, closed)) return word;
  }
  // One that was chosen and cannot be reached is not replaced by one that was not.
  if (!configured.empty()) return "";
  std::istringstream lines{std::string(resolv_conf)};
  for (std::string line; std::getline(lines, line);) {
    std::istringstream parts(line);
    std::string key;
    std::string value;
    parts >> key >> value;
    const auto address = key == "nameserver" ? FourAt(value) : std::nullopt;
    // The carrier asks the first, and no other.
    if (address) return IsClosed(*address, closed) ? sandbox::own_network::kResolver : value;
  }
  return "";
}

Result<sandbox::Device> FindDevice(std::string_view resolver,
                                   const std::vector<std::string>& rules) {
  IGLOO_ASSIGN(const auto denied, DeniedNetworks(rules));
  sandbox::Device device{.carrier = FindInPath("pasta")};
  // Where a package of igloo has brought one along.
  constexpr const char* kPackaged = IGLOO_PASTA;
  if (device.carrier.empty() && ::access(kPackaged, X_OK) == 0) device.carrier = kPackaged;
  if (device.carrier.empty()) {
    return Fail(Errc::kNotFound, "pasta is not installed", "install the package passt");
  }
  const UniqueFd tunnels(::open(kTunnels, O_RDWR | O_CLOEXEC));
  if (!tunnels) {
    const int saved_errno = errno;
    return FailSys(saved_errno, std::string("pasta cannot use ") + kTunnels,
                   std::string("chmod 666 ") + kTunnels + ", as most systems have it");
  }
  device.closed = network::ClosedNetworksOfFour();
  IGLOO_ASSIGN(const auto own, OwnAddresses());
  device.closed.insert(device.closed.end(), own.begin(), own.end());
  device.closed.insert(device.closed.end(), denied.begin(), denied.end());
  device.resolver =
      ResolverFor(resolver, ReadFile("/etc/resolv.conf", 1U << 16).value_or(""), device.closed);
  return device;
}

}  // namespace igloo::environment
