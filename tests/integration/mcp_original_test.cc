// What nix-sandbox-mcp's own test of its server looked at, through igloo under that name.

#include <gmock/gmock.h>

#include <boost/json/serialize.hpp>
#include <filesystem>

#include "support/configured.h"
#include "support/mcp.h"

namespace igloo::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

class Original : public ::testing::Test {
 protected:
  Original() : client_({.program = "nix-sandbox-mcp", .args = {}}) {
    info_ = client_.Initialize("2024-11-05");
  }
  std::string Text(std::string_view env, std::string_view code) {
    return TextOf(client_.Run(env, code));
  }

  std::string In(std::string_view session, std::string_view env, std::string_view code) {
    return TextOf(client_.Run(env, code, {{"session", session}}));
  }

  McpClient client_;
  JsonObject info_;
};

TEST_F(Original, SaysWhoItIs) {
  EXPECT_EQ(info_.at("serverInfo").at("name").as_string(), "nix-sandbox-mcp");
  EXPECT_EQ(info_.at("serverInfo").at("version").as_string(), "0.1.0");
  EXPECT_EQ(boost::json::serialize(info_.at("capabilities")), R"({"tools":{}})");
  EXPECT_EQ(info_.at("protocolVersion").as_string(), "2024-11-05");
  EXPECT_THAT(
      std::string(info_.at("instructions").as_string()),
      AllOf(HasSubstr("- python: "), HasSubstr("- shell: "), HasSubstr("ephemeral by default"),
            HasSubstr("On failure check stderr and exit code")));
}

TEST_F(Original, ListsOneTool) {
  const JsonObject answer = client_.Ask("tools/list");
  const auto& tools = answer.at("result").at("tools").as_array();
  ASSERT_EQ(tools.size(), 1U);
  EXPECT_EQ(tools[0].at("name").as_string(), "run");
  EXPECT_EQ(boost::json::serialize(tools[0].at("inputSchema").at("required")), R"(["code","env"])");
  EXPECT_FALSE(tools[0].as_object().contains("outputSchema"));
}

TEST_F(Original, RunsPython) { EXPECT_EQ(Text("python", "print(2 + 2)"), "4\n"); }

TEST_F(Original, RunsShell) { EXPECT_EQ(Text("shell", "echo hello"), "hello\n"); }

TEST_F(Original, StartsInTheWorkspace) { EXPECT_EQ(Text("shell", "pwd"), "/workspace\n"); }

TEST_F(Original, HasNoNetwork) {
  EXPECT_THAT(Text("python",
                   "import socket\n"
                   "try:\n"
                   "  socket.create_connection(('1.1.1.1', 53), 2)\n"
                   "  print('connected')\n"
                   "except OSError:\n"
                   "  print('blocked')"),
              "blocked\n");
}

TEST_F(Original, InventsItsUsers) {
  EXPECT_THAT(Text("shell", "wc -l < /etc/passwd"), ::testing::AnyOf("2\n", "3\n"));
}

TEST_F(Original, ShowsStandardError) {
  EXPECT_EQ(Text("shell", "echo oops >&2"), "oops\n");
  EXPECT_EQ(Text("shell", "echo out; echo oops >&2"), "out\n\n--- stderr ---\noops\n");
}

TEST_F(Original, AnExceptionIsAnError) {
  const JsonObject result = client_.Run("python", "raise ValueError('boom')");
  EXPECT_TRUE(IsError(result));
  EXPECT_THAT(TextOf(result), HasSubstr("ValueError: boom"));
  EXPECT_EQ(result.at("content").as_array().size(), 1U);
  EXPECT_FALSE(result.contains("structuredContent"));
}

TEST_F(Original, EmptyCodeIsFine) {
  const JsonObject result = client_.Run("python", "");
  EXPECT_FALSE(IsError(result));
  EXPECT_EQ(TextOf(result), "");
}

TEST_F(Original, AnEphemeralRunKeepsNothing) {
  EXPECT_EQ(Text("shell", "echo x > /workspace/file; X=1; export X; ls"), "file\n");
  EXPECT_EQ(Text("shell", "ls; echo \"[$X]\""), "[]\n");
  EXPECT_EQ(Text("python", "x = 1"), "");
  EXPECT_THAT(Text("python", "print(x)"), HasSubstr("NameError"));
}

TEST_F(Original, PythonStatePersists) {
  EXPECT_EQ(In("s1", "python", "x = 41\nimport math"), "");
  EXPECT_EQ(In("s1", "python", "print(x + 1, math.floor(2.5))"), "42 2\n");
  EXPECT_EQ(In("s1", "python", "x"), "") << "values of expressions were never echoed";
}

TEST_F(Original, SessionsAreIsolated) {
  In("s1", "python", "x = 1");
  EXPECT_THAT(In("s2", "python", "print(x)"), HasSubstr("NameError"));
}

TEST_F(Original, ShellVariablesPersist) {
  In("s1", "shell", "export GREETING=hello");
  EXPECT_EQ(In("s1", "shell", "echo $GREETING"), "hello\n");
}

TEST_F(Original, FilesInTheWorkspacePersist) {
  In("s1", "shell", "echo data > /workspace/file.txt");
  EXPECT_EQ(In("s1", "shell", "cat /workspace/file.txt"), "data\n");
}

TEST_F(Original, AnEphemeralCallBesideASessionStaysEphemeral) {
  In("s1", "shell", "echo data > file.txt");
  EXPECT_EQ(Text("shell", "ls"), "");
}

TEST_F(Original, ASessionOfAnotherEnvironmentIsAnError) {
  In("s1", "python", "x = 1");
  const JsonObject result =
      client_.Call("run", {{"env", "shell"}, {"code", "echo hi"}, {"session", "s1"}});
  EXPECT_TRUE(IsError(result));
  EXPECT_THAT(TextOf(result),
              StartsWith("Session 's1' is bound to environment 'python', not 'shell'.\n"));
}

TEST_F(Original, AnUnknownEnvironmentIsAProtocolError) {
  const JsonObject answer = client_.Run("cobol", "DISPLAY 1");
  ASSERT_TRUE(answer.contains("error"));
  EXPECT_EQ(answer.at("error").at("code").as_int64(), -32602);
  EXPECT_THAT(std::string(answer.at("error").at("message").as_string()),
              AllOf(StartsWith("Unknown environment: 'cobol'. Available: [\""),
                    HasSubstr("\"python\""), Not(HasSubstr("cobol\""))));
}

TEST_F(Original, ArgumentsOfIgloosOwnToolAreRefused) {
  const JsonObject more[] = {
      {{"files", boost::json::array{JsonObject{{"path", "a"}, {"content", "b"}}}}},
      {{"timeout_seconds", 1}},
      {{"session", "s"}, {"fork_of", "t"}},
      {{"fork_of", "t"}},
      {{"session_action", "list"}},
      {{"max_output", 1000}},
      {{"echo", true}}};
  for (const JsonObject& each : more) {
    const JsonObject answer = client_.Run("shell", "echo ran", each);
    ASSERT_TRUE(answer.contains("error")) << boost::json::serialize(each);
    EXPECT_EQ(answer.at("error").at("code").as_int64(), -32602);
    EXPECT_THAT(std::string(answer.at("error").at("message").as_string()),
                AllOf(StartsWith("there is no argument '"), HasSubstr("code, env and session")));
  }
  // Left out, as some clients write it.
  EXPECT_EQ(TextOf(client_.Run("shell", "echo ran", {{"files", nullptr}})), "ran\n");
}

TEST_F(Original, WhatASessionPrintsLateComesWithItsNextCall) {
  EXPECT_EQ(In("s", "node", "setTimeout(() => console.log('late'), 50); undefined"), "");
  std::string all;
  EXPECT_TRUE(WaitFor([&] {
    all += In("s", "node", "console.log('now')");
    return all.contains("late\n");
  })) << all;
  EXPECT_THAT(all, Not(HasSubstr("since the last call"))) << "as it was printed";
}

TEST_F(Original, AKilledCallSaysWhichLimitItWas) {
  const std::string hungry = "x = [b'x' * ((1 << 20) + i) for i in range(4096)]\nprint('made')";
  const JsonObject fresh = client_.Run("python", hungry);
  EXPECT_TRUE(IsError(fresh));
  EXPECT_THAT(TextOf(fresh), AllOf(HasSubstr("emory"), Not(HasSubstr("made"))));
  client_.Run("python", "kept = 1", {{"session", "m"}});
  const JsonObject killed = client_.Run("python", hungry, {{"session", "m"}});
  EXPECT_TRUE(IsError(killed));
  EXPECT_THAT(TextOf(killed), AllOf(HasSubstr("emory"), Not(HasSubstr("made"))));
}

TEST_F(Original, AnInterpreterThatEndedIsTold) {
  EXPECT_EQ(In("s", "shell", "x=1"), "");
  EXPECT_THAT(In("s", "shell", "exit 3"), HasSubstr("[variables are lost, files are kept"));
  EXPECT_THAT(In("s", "shell", "echo ${x:-gone}"),
              AllOf(StartsWith("gone\n"), HasSubstr("[variables were lost, files were kept")));
  EXPECT_EQ(In("s", "shell", "echo ${x:-gone}"), "gone\n") << "told once";
}

TEST_F(Original, OlderNamesOfTheArgumentsWork) {
  EXPECT_EQ(TextOf(client_.Call("run", {{"environment", "shell"}, {"command", "echo old"}})),
            "old\n");
}

/// nix-sandbox-mcp with a configuration of igloo's.
class ConfiguredOriginal : public Configured {
 protected:
  McpClient Start(const std::string& text) const {
    Write(kUsual, text);
    return Again();
  }
  McpClient Again() const {
    return McpClient({.program = "nix-sandbox-mcp",
                      .args = {},
                      .env = {"PATH=/usr/bin:/bin", "HOME=" + Path("")}});
  }
  /// What its one tool says about what clients may assume.
  static JsonObject HintsOf(McpClient& client) {
    const JsonObject answer = client.Ask("tools/list");
    const JsonObject& tool = answer.at("result").at("tools").at(0).as_object();
    return tool.contains("annotations") ? tool.at("annotations").as_object() : JsonObject();
  }
  static std::string Instructions(McpClient& client) {
    return std::string(client.Initialize("2024-11-05").at("instructions").as_string());
  }
};

TEST_F(ConfiguredOriginal, AProjectThatCodeMayChangeIsServedAndSaidSo) {
  Write("app/file", "before\n");
  std::filesystem::permissions(Path("app/file"), std::filesystem::perms(0666));
  McpClient client =
      Start("[project]\npath = '" + Path("app") + "'\nmount_point = '/src'\nmode = 'readwrite'\n");
  EXPECT_THAT(
      Instructions(client),
      AllOf(HasSubstr("- shell: "), HasSubstr("- python: "),
            HasSubstr("Project directory mounted at /src (read-write: changes are real).")));
  EXPECT_EQ(TextOf(client.Run("shell", "cat /src/file; echo after > /src/file")), "before\n");
  EXPECT_EQ(Read("app/file"), "after\n");
  EXPECT_TRUE(HintsOf(client).empty()) << "that revision has none";
  McpClient newer = Again();
  newer.Initialize();
  EXPECT_TRUE(HintsOf(newer).at("destructiveHint").as_bool());
}

TEST_F(ConfiguredOriginal, ACopyOfTheProjectIsNotCalledReadOnly) {
  Write("app/file", "x");
  McpClient client = Start("[project]\npath = '" + Path("app") + "'\nmode = 'overlay'\n");
  EXPECT_THAT(Instructions(client),
              HasSubstr("mounted at /project (writable: changes are dropped"));
  McpClient newer = Again();
  newer.Initialize();
  EXPECT_TRUE(HintsOf(newer).empty()) << "as it always was";
}

TEST_F(ConfiguredOriginal, TimeOutsAndRefusalsHaveTheirOldWords) {
  McpClient client = Start(
      "[defaults]\ntimeout_seconds = 1\n[environments.plain]\npreset = 'shell'\n"
      "backend = 'bubblewrap'\n[environments.later]\nflake = 'nixpkgs#later'\n"
      "[nix]\nprogram = '/nonexistent/nix'\n");
  client.Initialize("2024-11-05");
  EXPECT_EQ(TextOf(client.Run("shell", "sleep 30")), "Command timed out after 1s");
  EXPECT_THAT(TextOf(client.Run("shell", "sleep 30", {{"session", "s"}})),
              StartsWith("Session execution timed out after 1s"));
  EXPECT_EQ(TextOf(client.Run("plain", ":", {{"session", "t"}})),
            "Environment 'plain' does not support sessions (no session_exec configured)");
  const JsonObject later = client.Run("later", ":");
  ASSERT_FALSE(later.contains("error")) << "it is no unknown one";
  EXPECT_TRUE(IsError(later));
  EXPECT_THAT(TextOf(later), AllOf(StartsWith("Execution error: "), HasSubstr("later")));
}

TEST(OriginalCommand, NamesItsVariables) {
  const Outcome help =
      RunProgram({.program = BinDirectory() + "/nix-sandbox-mcp", .args = {"--help"}});
  EXPECT_EQ(help.status, 0);
  EXPECT_THAT(help.out, AllOf(HasSubstr("NIX_SANDBOX_ENVS"), HasSubstr("NIX_SANDBOX_METADATA"),
                              HasSubstr("PROJECT_DIR")));
}

TEST(OriginalCommand, NeedsNoFlagsAndTakesItsOwn) {
  McpClient client({.program = "nix-sandbox-mcp", .args = {"--stdio", "--log-level", "debug"}});
  client.Initialize("2024-11-05");
  EXPECT_EQ(TextOf(client.Run("shell", "echo hi")), "hi\n");
}

}  // namespace
}  // namespace igloo::testing
