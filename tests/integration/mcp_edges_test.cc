// What a server must survive on its pipe, and go on serving.

#include <gmock/gmock.h>

#include <boost/json/serialize.hpp>

#include "support/mcp.h"

namespace igloo::testing {
namespace {

using ::testing::HasSubstr;

class McpEdges : public ::testing::Test {
 protected:
  McpEdges() { client_.Initialize(); }
  /// The code of the error without an id that a line is answered with.
  std::int64_t Refused(std::string_view line) {
    client_.SendLine(line);
    const auto message = client_.NextOther();
    if (!message || !message->contains("error") || message->contains("id")) {
      ADD_FAILURE() << (message ? boost::json::serialize(*message) : "nothing came");
      return 0;
    }
    return message->at("error").at("code").as_int64();
  }
  std::int64_t CodeOf(const JsonObject& answer) {
    return answer.contains("error") ? answer.at("error").at("code").as_int64() : 0;
  }
  void StillServes() {
    EXPECT_THAT(TextOf(client_.Run("shell", "echo alive")), HasSubstr("alive\n"));
  }

  McpClient client_;
};

TEST_F(McpEdges, WhatIsNoMessageIsRefusedWithoutAnId) {
  EXPECT_EQ(Refused("not json"), -32700);
  EXPECT_EQ(Refused("{\"jsonrpc\":\"2.0\","), -32700);
  EXPECT_EQ(Refused("[]"), -32600);
  EXPECT_EQ(Refused(R"([{"jsonrpc":"2.0","id":1,"method":"ping"}])"), -32600);
  EXPECT_EQ(Refused(R"({"jsonrpc":"2.0","id":null,"method":"ping"})"), -32600);
  EXPECT_EQ(Refused(R"({"jsonrpc":"2.0","id":1.5,"method":"ping"})"), -32600);
  EXPECT_EQ(Refused("\"text\""), -32600);
  EXPECT_EQ(Refused(std::string(100'000, '[')), -32600) << "too deep";
  StillServes();
}

TEST_F(McpEdges, ABatchIsNeverExecuted) {
  client_.SendLine(R"([{"jsonrpc":"2.0","id":77,"method":"tools/call",)"
                   R"("params":{"name":"run","arguments":{"env":"shell","code":"true"}}}])");
  const auto refused = client_.NextOther();
  ASSERT_TRUE(refused);
  EXPECT_FALSE(refused->contains("id"));
  // An execution would have been answered before a request that came later.
  StillServes();
}

TEST_F(McpEdges, UnknownThingsAreNamed) {
  EXPECT_EQ(CodeOf(client_.Ask("no/such/method")), -32601);
  EXPECT_EQ(CodeOf(client_.Ask("tools/call", {{"name", "x"}, {"arguments", JsonObject{}}})),
            -32602);
  EXPECT_EQ(CodeOf(client_.Ask("resources/read", {{"uri", "igloo://run/0/stdout"}})), -32602);
  EXPECT_EQ(CodeOf(client_.Ask("ping", {{"_meta", ModernMeta()}})), -32601);
  client_.Notify("notifications/whatever", {{"x", 1}});
  client_.Notify("notifications/cancelled", {{"requestId", "unknown"}});
  StillServes();
}

TEST_F(McpEdges, LinesMayEndAsTheyLike) {
  client_.SendLine("");
  client_.SendLine("\r");
  client_.running().Write("{\"jsonrpc\":\"2.0\",\"id\":900,\"method\":\"ping\"}\r\n");
  EXPECT_TRUE(client_.Wait(900).contains("result"));
  StillServes();
}

TEST_F(McpEdges, WhatCannotBeReadIsAnsweredToItsOwnId) {
  // As the TypeScript SDK writes it: the id behind everything else.
  const std::string end = R"("},"jsonrpc":"2.0","id":905})",
                    begin = R"({"method":"ping","params":{"x":")";
  client_.SendLine(begin + std::string(17U << 20, 'x') + end);
  EXPECT_EQ(CodeOf(client_.Wait(905)), -32600);
  StillServes();
  client_.SendLine(begin + "\xff" + end);
  EXPECT_EQ(CodeOf(client_.Wait(905)), -32700);
  StillServes();
}

TEST_F(McpEdges, CodeWithHalfASurrogatePairRuns) {
  client_.SendLine(R"~({"method":"tools/call","params":{"name":"run","arguments":{"env":"python",)~"
                   R"~("code":"print(ascii('a\ud800b'))"}},"jsonrpc":"2.0","id":906})~");
  const JsonObject answer = client_.Wait(906);
  ASSERT_TRUE(answer.contains("result")) << boost::json::serialize(answer);
  EXPECT_THAT(TextOf(answer.at("result").as_object()), HasSubstr("'a\\ufffdb'\n"));
}

TEST_F(McpEdges, LargeCodeArrives) {
  const std::string code = "x = '" + std::string(5U << 20, 'x') + "'\nprint(len(x))";
  EXPECT_THAT(TextOf(client_.Run("python", code)), HasSubstr("5242880\n"));
}

TEST_F(McpEdges, BothErasShareThePipe) {
  const JsonObject discovered = client_.Ask("server/discover", {{"_meta", ModernMeta()}});
  EXPECT_EQ(discovered.at("result").at("supportedVersions").at(0).as_string(), "2026-07-28");
  const JsonObject result = client_.Ask(
      "tools/call", {{"name", "run"},
                     {"arguments", JsonObject{{"env", "shell"}, {"code", "echo modern"}}},
                     {"_meta", ModernMeta()}});
  EXPECT_EQ(result.at("result").at("resultType").as_string(), "complete");
  EXPECT_THAT(TextOf(result.at("result").as_object()), HasSubstr("modern\n"));
  StillServes();
}

TEST_F(McpEdges, AnUnknownVersionGetsTheNewestOfItsEra) {
  for (const char* version : {"2026-07-28", "1999-01-01", "2025-11-25"}) {
    McpClient client;
    EXPECT_EQ(client.Initialize(version).at("protocolVersion").as_string(), "2025-11-25");
  }
  McpClient old;
  EXPECT_EQ(old.Initialize("2024-11-05").at("protocolVersion").as_string(), "2024-11-05");
  EXPECT_THAT(TextOf(old.Run("shell", "echo old")), HasSubstr("old\n"));
}

TEST(McpEdge, AnswersWithoutAHandshake) {
  McpClient client;
  EXPECT_TRUE(client.Ask("ping").contains("result"));
  EXPECT_TRUE(client.Ask("tools/list").contains("result"));
}

TEST(McpEdge, OutputThatLooksLikeAMessageIsText) {
  McpClient client;
  client.Initialize();
  const std::string forged = R"({"jsonrpc":"2.0","id":2,"result":{}})";
  const JsonObject result =
      client.Run("shell", "echo '" + forged + "'; printf '\\n\\000\\001\\033[2J\\377' ; echo '" +
                              forged + "'");
  EXPECT_THAT(TextOf(result), HasSubstr(forged));
}

}  // namespace
}  // namespace igloo::testing
