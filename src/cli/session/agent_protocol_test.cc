#include "cli/session/agent_protocol.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace igloo::cli {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

TEST(AgentFramesTest, CutsAStreamWhereverItComesInPieces) {
  const std::string stream = FrameFor("one") + FrameFor("") + FrameFor(std::string(300, 'x'));
  EXPECT_THAT(stream, StartsWith(std::string("\0\0\0\3one", 7)));
  AgentFrames frames;
  std::vector<std::string> found;
  for (const char byte : stream) {
    frames.Add({&byte, 1});
    while (auto message = frames.Next().value()) found.push_back(*message);
  }
  EXPECT_THAT(found, ::testing::ElementsAre("one", "", std::string(300, 'x')));
}

TEST(AgentFramesTest, RefusesWhatIsTooLarge) {
  AgentFrames frames;
  frames.Add(std::string("\x04\0\0\0", 4));  // 64 MiB
  EXPECT_FALSE(frames.Next().value());
  AgentFrames larger;
  larger.Add(std::string("\x04\0\0\1", 4));
  EXPECT_FALSE(larger.Next());
}

TEST(ParseAgentRequestTest, KnowsThreeMessages) {
  EXPECT_EQ(ParseAgentRequest(R"({"type":"ping"})"), AgentRequest(AgentPing{}));
  EXPECT_EQ(ParseAgentRequest(R"({"type":"shutdown"})"), AgentRequest(AgentShutdown{}));
  EXPECT_EQ(ParseAgentRequest(R"({"type":"execute","id":"7","interpreter":"bash","code":"ls"})"),
            AgentRequest(AgentExecute{"7", "bash", "ls"}));
}

TEST(ParseAgentRequestTest, AnswersEverythingElse) {
  EXPECT_EQ(ParseAgentRequest(R"({"type":"dance"})"),
            AgentRequest(AgentMisuse{"Unknown message type: dance"}));
  for (const char* text : {"{", "[]", "7", R"({"type":"execute","id":"7"})",
                           R"({"type":"execute","id":7,"interpreter":"bash","code":"ls"})"}) {
    const AgentRequest request = ParseAgentRequest(text);
    const auto* misuse = std::get_if<AgentMisuse>(&request);
    ASSERT_NE(misuse, nullptr) << text;
    EXPECT_THAT(misuse->answer, StartsWith("Bad message: "));
  }
}

TEST(EncodeAgentResultTest, FitsIntoAMessage) {
  EXPECT_EQ(EncodeAgentResult({.id = "7", .out = "a\n", .err = "\xff", .exit_code = 3}),
            "{\"type\":\"result\",\"id\":\"7\",\"stdout\":\"a\\n\",\"stderr\":\"\xef\xbf\xbd\","
            "\"exit_code\":3}");
  const std::string large =
      EncodeAgentResult({.out = std::string(8U << 20, '\1'), .err = std::string(8U << 20, '\1')});
  EXPECT_LE(large.size(), kMaxAgentMessage);
  EXPECT_THAT(large.substr(large.size() - 200), HasSubstr("do not fit into a message"));
}

}  // namespace
}  // namespace igloo::cli
