#include "http/address.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace igloo::http {
namespace {

TEST(HttpAddress, IsAPortOfAnAddressOrASocketsPath) {
  EXPECT_EQ(ParseAddress("127.0.0.1:8730"), Address(TcpAddress{"127.0.0.1", 8730}));
  EXPECT_EQ(ParseAddress("localhost:8730"), Address(TcpAddress{"127.0.0.1", 8730}));
  EXPECT_EQ(ParseAddress("[::1]:0"), Address(TcpAddress{"::1", 0}));
  EXPECT_EQ(ParseAddress("[0:0::0:1]:65535"), Address(TcpAddress{"::1", 65535}));
  EXPECT_EQ(ParseAddress("unix:/run/a:b"), Address(UnixSocket{"/run/a:b"}));
}

TEST(HttpAddress, WhatIsNoneOfThemSaysWhatToWrite) {
  const std::string long_path = "unix:/" + std::string(107, 'x');
  for (const std::string& text :
       {std::string(), std::string("8730"), std::string(":8730"), std::string("127.0.0.1"),
        std::string("[::1]"), std::string("::1:8730"), std::string("127.0.0.1:"),
        std::string("127.0.0.1:65536"), std::string("127.0.0.1:-1"), std::string("127.0.0.1:80x"),
        std::string("example.com:80"), std::string("127.1:80"), std::string("[::1%lo]:80"),
        std::string("[127.0.0.1]:80"), std::string("unix:"), std::string("unix:a"),
        std::string("unix:/run/"), std::string("unix:/a\0b", 9), long_path}) {
    const auto parsed = ParseAddress(text);
    ASSERT_FALSE(parsed) << text;
    EXPECT_EQ(parsed.error().code, Errc::kInvalidArgument) << text;
    EXPECT_NE(parsed.error().hint, "") << text;
  }
}

TEST(HttpAddress, ItsTextIsReadAgain) {
  for (const char* text : {"127.0.0.1:1", "[::1]:2", "0.0.0.0:3", "unix:/run/igloo.sock"}) {
    EXPECT_EQ(ToText(ParseAddress(text).value()), text);
  }
}

TEST(HttpAddress, OnlyThisMachinesOwnAreLoopback) {
  for (const char* text :
       {"127.0.0.1:1", "127.8.9.10:1", "[::1]:1", "[::ffff:127.0.0.1]:1", "unix:/run/igloo.sock"}) {
    EXPECT_TRUE(IsLoopback(ParseAddress(text).value())) << text;
  }
  for (const char* text :
       {"0.0.0.0:1", "[::]:1", "10.0.0.1:1", "[::ffff:10.0.0.1]:1", "[fe80::1]:1", "126.0.0.1:1"}) {
    EXPECT_FALSE(IsLoopback(ParseAddress(text).value())) << text;
  }
}

TEST(HttpAddress, AServerAnswersToItsOwnAddress) {
  EXPECT_THAT(NamesOf({.host = "10.0.0.1"}, {"box"}).names,
              ::testing::ElementsAre("box", "10.0.0.1"));
  EXPECT_THAT(NamesOf({.host = "fd00::1"}, {}).names, ::testing::ElementsAre("[fd00::1]"));
  EXPECT_EQ(NamesOf({.host = "10.0.0.1", .port = 8730}, {}).port, 8730);
  EXPECT_FALSE(NamesOf({.host = "10.0.0.1"}, {}).any_number);
  EXPECT_TRUE(NamesOf({.host = "0.0.0.0"}, {}).any_number);
  EXPECT_TRUE(NamesOf({.host = "::"}, {}).any_number);
}

}  // namespace
}  // namespace igloo::http
