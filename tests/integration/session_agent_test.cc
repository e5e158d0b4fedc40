// The protocol of nix-sandbox-mcp's session agent, as its daemon speaks it.

#include <gmock/gmock.h>

#include <boost/json.hpp>

#include "cli/session/agent_protocol.h"
#include "support/artifacts.h"
#include "support/running.h"

namespace igloo::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;
namespace json = boost::json;

/// One agent over a sandbox with a real bash.
class SessionAgent : public ArtifactStore {
 protected:
  void Start(std::vector<std::string> env = {}) {
    env.insert(env.end(), {"PATH=/usr/bin:/bin", "HOME=" + Path("home")});
    agent_.emplace(Invocation{.program = BinDirectory() + "/igloo",
                              .args = {"session-agent", "--artifact", Add("art", "mine")},
                              .env = env});
  }
  static std::string Execute(const std::string& id, const std::string& code,
                             const std::string& interpreter = "bash") {
    return cli::FrameFor(json::serialize(json::object{
        {"type", "execute"}, {"id", id}, {"interpreter", interpreter}, {"code", code}}));
  }
  void Send(const std::string& frame) { agent_->Write(frame); }
  /// Everything that the agent said until its end.
  std::vector<json::object> Finish() {
    outcome_ = agent_->Finish();
    cli::AgentFrames frames;
    frames.Add(outcome_.out);
    std::vector<json::object> messages;
    while (auto message = frames.Next().value()) {
      messages.push_back(json::parse(*message).as_object());
    }
    return messages;
  }

  std::optional<Running> agent_ = {};
  Outcome outcome_ = {};
};

TEST_F(SessionAgent, KeepsVariablesAndFilesFromCallToCall) {
  Start();
  Send(Execute("1", "x=41; echo kept > file; echo out; echo err >&2; false"));
  Send(Execute("2", "echo $((x + 1)); cat file; pwd; ls /nix/store | wc -l"));
  const auto said = Finish();
  ASSERT_EQ(said.size(), 3U) << outcome_.err;
  EXPECT_EQ(said[0], (json::object{{"type", "ready"}}));
  EXPECT_EQ(said[1], (json::object{{"type", "result"},
                                   {"id", "1"},
                                   {"stdout", "out\n"},
                                   {"stderr", "err\n"},
                                   {"exit_code", 1}}));
  EXPECT_EQ(said[2].at("stdout"), "42\nkept\n/workspace\n3\n");
  EXPECT_EQ(said[2].at("exit_code"), 0);
  EXPECT_EQ(outcome_.status, 0);
}

TEST_F(SessionAgent, AnswersWhatIsNoCall) {
  Start();
  Send(cli::FrameFor(R"({"type":"ping"})"));
  Send(cli::FrameFor(R"({"type":"dance"})"));
  Send(cli::FrameFor("{"));
  Send(Execute("7", "x", "ruby"));
  Send(Execute("8", "x", "python"));
  const auto said = Finish();
  ASSERT_EQ(said.size(), 6U) << outcome_.err;
  EXPECT_EQ(said[1], (json::object{{"type", "pong"}}));
  EXPECT_EQ(said[2], (json::object{{"type", "error"}, {"message", "Unknown message type: dance"}}));
  EXPECT_EQ(said[3].at("type"), "error");
  EXPECT_THAT(std::string(said[3].at("message").as_string()), StartsWith("Bad message: "));
  EXPECT_EQ(
      said[4],
      (json::object{{"type", "result"},
                    {"id", "7"},
                    {"stdout", ""},
                    {"stderr", "Error: unknown interpreter 'ruby'. Valid: bash, node, python\n"},
                    {"exit_code", 1}}));
  EXPECT_EQ(said[5].at("exit_code"), 1) << "this session is one of bash";
}

TEST_F(SessionAgent, ShutdownEndsItWithoutAWord) {
  Start();
  Send(cli::FrameFor(R"({"type":"shutdown"})"));
  Send(cli::FrameFor(R"({"type":"ping"})"));
  EXPECT_EQ(Finish().size(), 1U) << "ready, and nothing else";
  EXPECT_EQ(outcome_.status, 0);
}

TEST_F(SessionAgent, AMessageThatIsTooLargeEndsItWithTheReason) {
  Start();
  Send(std::string("\x7f\xff\xff\xff", 4));
  const auto said = Finish();
  ASSERT_EQ(said.size(), 2U);
  EXPECT_THAT(std::string(said[1].at("message").as_string()), HasSubstr("larger than"));
  EXPECT_EQ(outcome_.status, 125);
}

TEST_F(SessionAgent, ShowsTheProject) {
  Write(Path("project/file"), "of the project");
  Start({"PROJECT_DIR=" + Path("project"), "PROJECT_MOUNT=/src"});
  Send(Execute("1", "cat /src/file"));
  const auto said = Finish();
  ASSERT_EQ(said.size(), 2U) << outcome_.err;
  EXPECT_EQ(said[1].at("stdout"), "of the project");
}

}  // namespace
}  // namespace igloo::testing
