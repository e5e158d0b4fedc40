#include "mcp/http_rules.h"

#include <gtest/gtest.h>

#include "mcp/testing.h"

namespace igloo::mcp {
namespace {

using testing::Legacy;
using testing::Modern;

/// What the headers of a message come to: an era or a code.
std::string Checked(const HttpHeaders& headers, const std::string& message) {
  const auto era = CheckHeaders(headers, DecodeMessage(message));
  if (!era) return std::to_string(static_cast<int>(era.error().code));
  return *era == Era::kModern ? "modern" : "legacy";
}

TEST(McpHeaders, HeadersAreReadByTheirNames) {
  http::Fields fields;
  for (const std::string& name : HeaderNames()) fields.Add(name, "of " + name);
  const HttpHeaders headers = HeadersOf(fields);
  EXPECT_EQ(headers.version, "of MCP-Protocol-Version");
  EXPECT_EQ(headers.method, "of Mcp-Method");
  EXPECT_EQ(headers.name, "of Mcp-Name");
  EXPECT_EQ(headers.session, "of Mcp-Session-Id");
}

TEST(McpHeaders, HeadersRepeatTheBody) {
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

TEST(McpHeaders, AVersionThatNobodySpeaksIsNamed) {
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

TEST(McpHeaders, TheLegacyEraNeedsNoHeaders) {
  EXPECT_EQ(Checked({}, Legacy("1", "ping")), "legacy");
  EXPECT_EQ(Checked({.version = "2025-03-26"}, Legacy("1", "ping")), "legacy");
}

TEST(McpHeaders, StatusesFollowTheEra) {
  EXPECT_EQ(StatusOf(Era::kModern, {}), 200U);
  EXPECT_EQ(StatusOf(Era::kModern, RpcCode::kMethodNotFound), 404U);
  EXPECT_EQ(StatusOf(Era::kLegacy, RpcCode::kMethodNotFound), 200U);
  EXPECT_EQ(StatusOf(Era::kModern, RpcCode::kUnsupportedVersion), 400U);
  EXPECT_EQ(StatusOf(Era::kLegacy, RpcCode::kParseError), 400U);
}

}  // namespace
}  // namespace igloo::mcp
