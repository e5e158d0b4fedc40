#include "http/rules.h"

#include <gtest/gtest.h>

namespace igloo::http {
namespace {

const OwnNames kOwn;

TEST(HttpRules, OnlyOwnNamesAreHosts) {
  for (const char* host : {"localhost", "LocalHost:80", "127.0.0.1:38000", "[::1]:80", "[::1]"}) {
    EXPECT_TRUE(HostAllowed(host, kOwn)) << host;
  }
  for (const char* host : {"", "evil.example", "localhost.evil.example",
                           "127.0.0.1.evil.example:80", "[::2]", "[", "evil.example:localhost",
                           "[::1].evil.example", "localhost:80.evil.example", "[::1", "10.0.0.1"}) {
    EXPECT_FALSE(HostAllowed(host, kOwn)) << host;
  }
}

TEST(HttpRules, AServerOnEveryAddressHasNoFurtherNames) {
  const OwnNames all{.any_number = true};
  for (const char* host : {"localhost", "10.0.0.1", "10.0.0.1:80", "[fd00::1]:80"}) {
    EXPECT_TRUE(HostAllowed(host, all)) << host;
  }
  for (const char* host : {"", "evil.example", "10.0.0.1.evil.example", "fd00::1", "[10.0.0.1]"}) {
    EXPECT_FALSE(HostAllowed(host, all)) << host;
  }
}

TEST(HttpRules, OnlyWhatPagesCannotSendUnaskedIsTaken) {
  for (const char* type : {"application/json", "Application/JSON ; charset=utf-8"}) {
    EXPECT_TRUE(IsJson(type)) << type;
  }
  for (const char* type : {"", "text/plain", "text/plain; application/json", "application/jsonx"}) {
    EXPECT_FALSE(IsJson(type)) << type;
  }
}

TEST(HttpRules, PagesOfOthersMayNotCall) {
  const OwnNames own{.port = 8730};
  EXPECT_TRUE(OriginAllowed("", own)) << "not a browser";
  for (const char* origin :
       {"http://localhost:8730", "HTTP://LocalHost:8730", "https://[::1]:8730"}) {
    EXPECT_TRUE(OriginAllowed(origin, own)) << origin;
  }
  for (const char* origin :
       {"null", "http://evil.example", "http://evil.example:8730", "localhost", "localhost:8730",
        "http://localhost.evil:8730", "http://localhost:3000", "http://localhost",
        "https://127.0.0.1:9", "chrome-extension://localhost", "chrome-extension://localhost:8730",
        "http://localhost:8730.evil", "http://x@localhost:8730"}) {
    EXPECT_FALSE(OriginAllowed(origin, own)) << origin;
  }
}

TEST(HttpRules, APortThatIsNotSaidIsTheSchemesOwn) {
  EXPECT_TRUE(OriginAllowed("http://localhost", {.port = 80}));
  EXPECT_FALSE(OriginAllowed("https://localhost", {.port = 80}));
  EXPECT_TRUE(OriginAllowed("https://localhost", {.port = 443}));
  EXPECT_TRUE(OriginAllowed("http://localhost:3000", {})) << "behind a Unix socket";
}

}  // namespace
}  // namespace igloo::http
