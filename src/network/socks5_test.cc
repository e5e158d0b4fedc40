#include "network/socks5.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace igloo::network {
namespace {

using ::testing::HasSubstr;
using std::string_literals::operator""s;

std::string Ask(const std::string& type_and_host) { return "\5\1\0"s + type_and_host + "\1\xbb"; }
std::string Domain(const std::string& name) {
  return Ask("\3"s + static_cast<char>(name.size()) + name);
}

TEST(Socks5, GreetingsAreReadInAnyPieces) {
  const std::string greeting = "\5\2\2\0rest"s;
  for (std::size_t size = 0; size < 4; ++size) {
    const auto taken = ParseSocksGreeting(std::string_view(greeting).substr(0, size));
    ASSERT_TRUE(taken);
    EXPECT_FALSE(*taken) << size;
  }
  const auto taken = ParseSocksGreeting(greeting);
  ASSERT_TRUE(taken && *taken);
  EXPECT_TRUE((*taken)->value);
  EXPECT_EQ((*taken)->size, 4U);
  EXPECT_FALSE((*ParseSocksGreeting("\5\1\2"s))->value) << "wants a password";
  EXPECT_FALSE(ParseSocksGreeting("\5\0"s)) << "no method";
  EXPECT_FALSE(ParseSocksGreeting("\4\1"s)) << "version 4";
}

TEST(Socks5, RequestsNameAHostAndAPort) {
  const std::pair<std::string, const char*> rows[] = {
      {Ask("\1\1\2\3\4"s), "1.2.3.4"},
      {Ask("\4\x26\6\x47\0\0\0\0\0\0\0\0\0\0\0\x11\x11"s), "[2606:4700::1111]"},
      {Domain("Example.COM."), "example.com"},
      {Domain("10.0.0.1"), "10.0.0.1"},
  };
  for (const auto& [bytes, host] : rows) {
    for (std::size_t size = 0; size < bytes.size(); ++size) {
      const auto part = ParseSocksRequest(std::string_view(bytes).substr(0, size));
      ASSERT_TRUE(part) << host << " " << size;
      EXPECT_FALSE(*part);
    }
    const auto taken = ParseSocksRequest(bytes + "payload");
    ASSERT_TRUE(taken && *taken) << host;
    EXPECT_EQ(ToText((*taken)->value.host), host);
    EXPECT_EQ((*taken)->value.port, 443);
    EXPECT_EQ((*taken)->size, bytes.size());
  }
}

TEST(Socks5, RefusesTheRest) {
  const std::pair<std::string, SocksReply> rows[] = {
      {"\4\1\0\1"s, SocksReply::kFailure},
      {"\5\2\0\1"s, SocksReply::kCommandNotSupported},
      {"\5\3\0\1"s, SocksReply::kCommandNotSupported},
      {"\5\1\1\1"s, SocksReply::kFailure},
      {Ask("\2\1\2\3\4"s), SocksReply::kAddressTypeNotSupported},
      {Domain("allowed.example\0.evil.org"s), SocksReply::kFailure},
      {Domain("evil.org\0allowed.example"s), SocksReply::kFailure},
      {Domain(""), SocksReply::kFailure},
      {Domain("0x7f.1"), SocksReply::kFailure},
      {Domain("2130706433"), SocksReply::kFailure},
      {Domain("::1"), SocksReply::kFailure},
      {Domain("ex\xc3\xa4mple.com"), SocksReply::kFailure},
      {"\5\1\0\1\1\2\3\4\0\0"s, SocksReply::kFailure},
  };
  for (const auto& [bytes, reply] : rows) {
    const auto taken = ParseSocksRequest(bytes);
    ASSERT_FALSE(taken);
    EXPECT_EQ(taken.error().reply, reply) << taken.error().reason;
  }
}

TEST(Socks5, AnswersHaveTenBytes) {
  EXPECT_EQ(EncodeSocksReply(SocksReply::kNotAllowed), "\5\2\0\1\0\0\0\0\0\0"s);
}

}  // namespace
}  // namespace igloo::network
