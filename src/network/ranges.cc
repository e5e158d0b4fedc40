#include "network/ranges.h"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

namespace igloo::network {

namespace {

/// How an IPv6 address carries an IPv4 address, at byte `at`.
struct Carrier {
  const char* network;
  unsigned at;
  std::uint8_t inverted;  ///< 0xff where its bits are turned over
};

struct Row {
  const char* network;
  std::string_view name;
};

/// The first row that holds an address names it, so the narrow ones come first.
constexpr Row kRows[] = {
    // What answers there hands out the credentials of the machine.
    {"169.254.169.254/32", "a cloud's metadata service"},
    {"fd00:ec2::254/128", "a cloud's metadata service"},
    {"fd20:ce::254/128", "a cloud's metadata service"},
    {"100.100.100.200/32", "a cloud's metadata service"},
    {"168.63.129.16/32", "a cloud's host agent"},
    {"0.0.0.0/8", "this host"},
    {"10.0.0.0/8", "a private network"},
    {"100.64.0.0/10", "a carrier's private network"},
    {"127.0.0.0/8", "loopback"},
    {"169.254.0.0/16", "link-local"},
    {"172.16.0.0/12", "a private network"},
    {"192.0.0.0/24", "reserved for protocols"},
    {"192.0.2.0/24", "reserved for documentation"},
    {"192.88.99.0/24", "6to4 relays"},
    {"192.168.0.0/16", "a private network"},
    {"198.18.0.0/15", "reserved for benchmarks"},
    {"198.51.100.0/24", "reserved for documentation"},
    {"203.0.113.0/24", "reserved for documentation"},
    {"224.0.0.0/4", "multicast"},
    {"255.255.255.255/32", "broadcast"},
    {"240.0.0.0/4", "reserved"},
    {"::/128", "this host"},
    {"::1/128", "loopback"},
    {"::/96", "an IPv4 address in IPv6 form"},
    {"::ffff:0:0/96", "an IPv4 address in IPv6 form"},
    {"64:ff9b:1::/48", "a network's own NAT64"},
    {"100::/64", "discarded"},
    {"2001:2::/48", "reserved for benchmarks"},
    {"2001:10::/28", "reserved for identifiers"},
    {"2001:20::/28", "reserved for identifiers"},
    {"2001:db8::/32", "reserved for documentation"},
    {"3fff::/20", "reserved for documentation"},
    {"fc00::/7", "a private network"},
    {"fe80::/10", "link-local"},
    {"fec0::/10", "a private network"},
    {"ff00::/8", "multicast"},
};

constexpr Carrier kCarriers[] = {
    {"2002::/16", 2, 0},      // 6to4
    {"64:ff9b::/96", 12, 0},  // NAT64
    {"2001::/32", 4, 0},      // Teredo: the server
    {"2001::/32", 12, 0xff},  // Teredo: the client
};

struct Tables {
  std::vector<std::pair<Network, std::string_view>> closed = {};
  std::vector<std::pair<Network, const Carrier*>> carriers = {};
  Network unicast = *ParseNetwork("2000::/3");
  Network nat64 = *ParseNetwork("64:ff9b::/96");

  Tables() {
    for (const Row& row : kRows) closed.emplace_back(*ParseNetwork(row.network), row.name);
    for (const Carrier& carrier : kCarriers) {
      carriers.emplace_back(*ParseNetwork(carrier.network), &carrier);
    }
  }
};

const Tables& AllTables() {
  static const Tables tables;
  return tables;
}

}  // namespace

std::vector<Address> CarriedAddresses(const Address& address) {
  std::vector<Address> all;
  if (address.family == Family::kFour) return all;
  for (const auto& [network, carrier] : AllTables().carriers) {
    if (!network.Contains(address)) continue;
    std::array<std::uint8_t, 4> carried = {};
    for (unsigned i = 0; i < carried.size(); ++i) {
      carried[i] = address.bytes[carrier->at + i] ^ carrier->inverted;
    }
    all.push_back(FourOf(carried.data()));
  }
  return all;
}

std::string_view ClosedRange(const Address& address) {
  const Tables& tables = AllTables();
  for (const auto& [network, name] : tables.closed) {
    if (network.Contains(address)) return name;
  }
  if (address.family == Family::kFour) return {};
  for (const Address& carried : CarriedAddresses(address)) {
    if (const auto name = ClosedRange(carried); !name.empty()) return name;
  }
  // SECURITY: what nobody has assigned yet may mean anything on some network.
  const bool assigned = tables.unicast.Contains(address) || tables.nat64.Contains(address);
  return assigned ? std::string_view{} : "not assigned";
}

std::vector<std::string> ClosedNetworksOfFour() {
  std::vector<Network> kept;
  for (const auto& [network, name] : AllTables().closed) {
    if (network.first.family == Family::kFour) kept.push_back(network);
  }
  // One that lies in another says nothing new.
  std::ranges::sort(kept, {}, &Network::prefix);
  std::vector<std::string> texts;
  for (auto each = kept.begin(); each != kept.end(); ++each) {
    const bool within = std::any_of(
        kept.begin(), each, [&](const Network& other) { return other.Contains(each->first); });
    if (!within) texts.push_back(ToText(*each) + (each->prefix == 32 ? "/32" : ""));
  }
  return texts;
}

}  // namespace igloo::network
