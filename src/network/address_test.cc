#include "network/address.h"

#include <gtest/gtest.h>

namespace igloo::network {
namespace {

TEST(Address, HasOneTextualFormAndNoOther) {
  for (const char* text : {"1.2.3.4", "0.0.0.0", "255.255.255.255", "::", "::1", "2001:db8::1",
                           "::ffff:1.2.3.4", "fe80::1"}) {
    const auto address = ParseAddress(text);
    ASSERT_TRUE(address) << text;
    EXPECT_EQ(ToText(*address), text);
  }
  // What C libraries, browsers or both also take for 127.0.0.1 and its kin.
  for (const char* text : {"",
                           "127.1",
                           "127.0.1",
                           "2130706433",
                           "017700000001",
                           "0177.0.0.1",
                           "0x7f.0.0.1",
                           "0x7f000001",
                           "127.0.0.01",
                           "00.0.0.0",
                           "127.0.0.1.",
                           ".127.0.0.1",
                           "127..0.1",
                           "127.0.0.256",
                           "127.0.0.-1",
                           "127.0.0.+1",
                           " 127.0.0.1",
                           "127.0.0.1 ",
                           "127.0.0.1.1",
                           "1.2.3.4/32",
                           "::1%lo",
                           "[::1]",
                           ":::",
                           "1::2::3",
                           "12345::",
                           "::ffff:127.1",
                           "fe80",
                           "１２７.0.0.1"}) {
    EXPECT_FALSE(ParseAddress(text)) << text;
  }
  EXPECT_FALSE(ParseAddress(std::string_view("127.0.0.1\0", 10)));
  EXPECT_FALSE(ParseAddress(std::string_view("::1\0", 4)));
}

TEST(Network, HoldsWhatBeginsAlike) {
  const auto contains = [](const char* network, const char* address) {
    return ParseNetwork(network)->Contains(*ParseAddress(address));
  };
  EXPECT_TRUE(contains("10.0.0.0/8", "10.255.0.1"));
  EXPECT_FALSE(contains("10.0.0.0/8", "11.0.0.0"));
  EXPECT_TRUE(contains("172.16.0.0/12", "172.31.255.255"));
  EXPECT_FALSE(contains("172.16.0.0/12", "172.32.0.0"));
  EXPECT_TRUE(contains("0.0.0.0/0", "8.8.8.8"));
  EXPECT_FALSE(contains("0.0.0.0/0", "::1")) << "the other family";
  EXPECT_TRUE(contains("fc00::/7", "fdff::1"));
  EXPECT_FALSE(contains("fc00::/7", "fe00::1"));
  EXPECT_TRUE(contains("1.2.3.4", "1.2.3.4"));
  EXPECT_FALSE(contains("1.2.3.4", "1.2.3.5"));
}

TEST(Network, TextIsReadStrictly) {
  EXPECT_EQ(ToText(*ParseNetwork("10.0.0.0/8")), "10.0.0.0/8");
  EXPECT_EQ(ToText(*ParseNetwork("10.0.0.1/32")), "10.0.0.1");
  for (const char* text : {"10.0.0.0/", "10.0.0.0/33", "10.0.0.0/08", "10.0.0.0/-1", "10/8",
                           "::/129", "fc00::/7/7", "/8"}) {
    EXPECT_FALSE(ParseNetwork(text)) << text;
  }
  const auto network = ParseNetwork("10.1.2.3/8");
  ASSERT_FALSE(network);
  EXPECT_EQ(network.error().hint, "write '10.0.0.0/8'");
}

}  // namespace
}  // namespace igloo::network
