#include "mcp/http_rules.h"

#include <gtest/gtest.h>

#include "mcp/testing.h"

namespace igloo::mcp {
namespace {

using testing::Legacy;
using testing::Modern;

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

TEST(HttpRules, TheTokenMustBeTheWholeToken) {
  EXPECT_TRUE(TokenMatches("Bearer secret", "secret"));
  EXPECT_TRUE(TokenMatches("bearer secret", "secret"));
  for (const char* given : {"", "secret", "Bearer ", "Bearer secre", "Bearer secrets",
                            "Basic! secret", "Bearer Secret"}) {
    EXPECT_FALSE(TokenMatches(given, "secret")) << given;
  }
}

/// What the headers of a message come to: an era or a code.
std::string Checked(const HttpHeaders& headers, const std::string& message) {
  const auto era = CheckHeaders(headers, DecodeMessage(message));
  if (!era) return std::to_string(static_cast<int>(era.error().code));
  return *era == Era::kModern ? "modern" : "legacy";
}

TEST(HttpRules, HeadersRepeatTheBody) {
  const std::string call = Modern("1", "tools/call", R"("name":"run")");
  HttpHeaders headers{.version = "2026-07-28", .method = "tools/call", .name = "run"};
  EXPECT_EQ(Checked(headers, call), "modern");
  headers.name = "=?base64?cnVu?=";
  EXPECT_EQ(Checked(headers, call), "modern");
  for (const char* name : {"", "RUN", "=?base64?!?="}) {
    headers.name = name;
    EXPECT_EQ(Checked(headers, call), "-32020") << name;
  }
  headers = {.version = "2026-07-28", .method = "tools/list", .name = "run"};
  EXPECT_EQ(Checked(headers, call), "-32020");
  for (const char* version : {"", "2025-11-25", "2099-01-01"}) {
    headers = {.version = version, .method = "tools/call", .name = "run"};
    EXPECT_EQ(Checked(headers, call), "-32020") << version;
  }
}

TEST(HttpRules, AVersionThatNobodySpeaksIsNamed) {
  const HttpHeaders headers{.version = "1999-01-01"};
  for (const std::string& message :
       {Legacy("1", "ping"), std::string(R"({"jsonrpc":"2.0","method":"notifications/x"})")}) {
    const auto era = CheckHeaders(headers, DecodeMessage(message));
    ASSERT_FALSE(era) << message;
    EXPECT_EQ(era.error().code, RpcCode::kUnsupportedVersion);
    EXPECT_NE(era.error().message.find("1999-01-01"), std::string::npos) << era.error().message;
  }
  EXPECT_EQ(Checked(headers, "{"), "modern") << "refused for what it is";
}

TEST(HttpRules, TheLegacyEraNeedsNoHeaders) {
  EXPECT_EQ(Checked({}, Legacy("1", "ping")), "legacy");
  EXPECT_EQ(Checked({.version = "2025-03-26"}, Legacy("1", "ping")), "legacy");
}

TEST(HttpRules, StatusesFollowTheEra) {
  EXPECT_EQ(StatusOf(Era::kModern, {}), 200U);
  EXPECT_EQ(StatusOf(Era::kModern, RpcCode::kMethodNotFound), 404U);
  EXPECT_EQ(StatusOf(Era::kLegacy, RpcCode::kMethodNotFound), 200U);
  EXPECT_EQ(StatusOf(Era::kModern, RpcCode::kUnsupportedVersion), 400U);
  EXPECT_EQ(StatusOf(Era::kLegacy, RpcCode::kParseError), 400U);
}

}  // namespace
}  // namespace igloo::mcp
