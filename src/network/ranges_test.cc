#include "network/ranges.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

namespace igloo::network {
namespace {

std::string_view RangeOf(const char* text) { return ClosedRange(*ParseAddress(text)); }

TEST(ClosedRange, NamesWhatStaysClosed) {
  const std::pair<const char*, std::string_view> rows[] = {
      {"0.0.0.0", "this host"},
      {"0.1.2.3", "this host"},
      {"10.0.0.1", "a private network"},
      {"100.64.0.1", "a carrier's private network"},
      {"100.127.255.255", "a carrier's private network"},
      {"100.100.100.200", "a cloud's metadata service"},
      {"127.0.0.1", "loopback"},
      {"127.255.255.254", "loopback"},
      {"169.254.0.1", "link-local"},
      {"169.254.169.254", "a cloud's metadata service"},
      {"168.63.129.16", "a cloud's host agent"},
      {"172.16.0.1", "a private network"},
      {"172.31.255.255", "a private network"},
      {"192.0.0.192", "reserved for protocols"},
      {"192.0.2.1", "reserved for documentation"},
      {"192.168.1.1", "a private network"},
      {"198.19.0.1", "reserved for benchmarks"},
      {"198.51.100.1", "reserved for documentation"},
      {"203.0.113.1", "reserved for documentation"},
      {"224.0.0.1", "multicast"},
      {"239.255.255.255", "multicast"},
      {"240.0.0.1", "reserved"},
      {"255.255.255.255", "broadcast"},
      {"::", "this host"},
      {"::1", "loopback"},
      {"::127.0.0.1", "an IPv4 address in IPv6 form"},
      {"::ffff:127.0.0.1", "an IPv4 address in IPv6 form"},
      {"::ffff:8.8.8.8", "an IPv4 address in IPv6 form"},
      {"::ffff:0:127.0.0.1", "not assigned"},
      {"64:ff9b::7f00:1", "loopback"},
      {"64:ff9b::a00:1", "a private network"},
      {"64:ff9b:1::808:808", "a network's own NAT64"},
      {"2002:7f00:1::", "loopback"},
      {"2002:a9fe:a9fe::1", "a cloud's metadata service"},
      {"2001:0:7f00:1::", "loopback"},
      // A Teredo client's address is turned over: 10.0.0.1.
      {"2001:0:808:808::f5ff:fffe", "a private network"},
      {"2001:db8::1", "reserved for documentation"},
      {"3fff::1", "reserved for documentation"},
      {"100::1", "discarded"},
      {"fc00::1", "a private network"},
      {"fd12::1", "a private network"},
      {"fd00:ec2::254", "a cloud's metadata service"},
      {"fe80::1", "link-local"},
      {"febf::1", "link-local"},
      {"fec0::1", "a private network"},
      {"ff02::1", "multicast"},
      {"4000::1", "not assigned"},
  };
  for (const auto& [address, name] : rows) EXPECT_EQ(RangeOf(address), name) << address;
}

TEST(ClosedRange, LeavesTheInternetOpen) {
  for (const char* text :
       {"1.1.1.1",         "8.8.8.8",         "9.255.255.255",   "11.0.0.0",
        "100.63.255.255",  "100.128.0.0",     "126.255.255.255", "128.0.0.0",
        "169.253.255.255", "169.255.0.0",     "172.15.255.255",  "172.32.0.0",
        "192.167.255.255", "192.169.0.0",     "198.17.255.255",  "198.20.0.0",
        "223.255.255.255", "2606:4700::1111", "2a00:1450::1",    "64:ff9b::808:808",
        "2002:808:808::1"}) {
    EXPECT_EQ(RangeOf(text), "") << text;
  }
}

TEST(ClosedNetworksOfFour, AreTheClosedRangesAndNothingElse) {
  const std::vector<std::string> texts = ClosedNetworksOfFour();
  std::vector<Network> networks;
  for (const std::string& text : texts) {
    ASSERT_TRUE(text.contains('/')) << text;
    const auto parsed = ParseNetwork(text);
    ASSERT_TRUE(parsed) << text;
    for (const Network& other : networks) EXPECT_FALSE(other.Contains(parsed->first)) << text;
    networks.push_back(*parsed);
  }
  EXPECT_THAT(texts, ::testing::IsSupersetOf({"10.0.0.0/8", "127.0.0.0/8", "169.254.0.0/16",
                                              "168.63.129.16/32", "224.0.0.0/4"}));
  // Corners of all networks of 16 bits, by either.
  for (unsigned high = 0; high < 65536; ++high) {
    for (const unsigned low : {0U, 1U, 255U}) {
      const std::uint8_t bytes[] = {static_cast<std::uint8_t>(high >> 8),
                                    static_cast<std::uint8_t>(high & 255),
                                    static_cast<std::uint8_t>(low), static_cast<std::uint8_t>(low)};
      const Address address = FourOf(bytes);
      const bool closed = std::ranges::any_of(
          networks, [&](const Network& each) { return each.Contains(address); });
      ASSERT_EQ(closed, !ClosedRange(address).empty()) << ToText(address);
    }
  }
}

}  // namespace
}  // namespace igloo::network
