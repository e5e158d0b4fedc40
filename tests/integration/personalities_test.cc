// nix-sandbox-mcp's variables and options, through igloo under that name.

#include <gmock/gmock.h>
#include <signal.h>

#include <boost/json/serialize.hpp>

#include "support/artifacts.h"
#include "support/mcp.h"

namespace igloo::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

class NixSandboxMcp : public ArtifactStore {
 protected:
  McpClient Start(std::vector<std::string> env = {}, std::vector<std::string> args = {}) {
    env.insert(env.end(), {"PATH=/usr/bin:/bin", "HOME=" + Path("home")});
    return McpClient({.program = "nix-sandbox-mcp", .args = std::move(args), .env = env});
  }
  static std::string Instructions(McpClient& client) {
    return std::string(client.Initialize("2024-11-05").at("instructions").as_string());
  }
};

TEST_F(NixSandboxMcp, ReadsItsDirectoryAndItsProject) {
  Add("sandboxes/x", "mine");
  Write(Path("project/file"), "of the project");
  McpClient client = Start({"NIX_SANDBOX_DIR=" + Path("sandboxes"),
                            "PROJECT_DIR=" + Path("project"), "PROJECT_MOUNT=/src"});
  EXPECT_THAT(Instructions(client),
              AllOf(HasSubstr("- mine: of the test\n"), HasSubstr("mounted at /src (read-only)")));
  EXPECT_EQ(TextOf(client.Run("mine", "cat /src/file")), "of the project");
  // A real bash lives in it, too.
  client.Run("mine", "x=41", {{"session", "s"}});
  EXPECT_EQ(TextOf(client.Run("mine", "echo $((x + 1))", {{"session", "s"}})), "42\n");
}

TEST_F(NixSandboxMcp, TakesTheConfigurationOfItsWrapperAsData) {
  Write(Path("evil"), "#!/bin/sh\ntouch " + Path("executed") + "\n");
  std::filesystem::permissions(Path("evil"), std::filesystem::perms(0755));
  Write(Path("project/file"), "of the project");
  Add("home/.config/nix-sandbox-mcp/sandboxes/x", "python", R"(,"interpreter_type":"bash")");
  McpClient client = Start(
      {"NIX_SANDBOX_METADATA={\"environments\":{\"python\":{\"backend\":\"jail\",\"exec\":\"" +
       Path("evil") + "\"},\"data\":{\"backend\":\"jail\",\"exec\":\"" + Path("evil") +
       "\",\"session_exec\":\"" + Path("evil") +
       "\",\"interpreter_type\":\"python\"}},"
       "\"project\":{\"path\":\"" +
       Path("project") + "\",\"mount_point\":\"/code\"}}"});
  EXPECT_THAT(Instructions(client), HasSubstr("mounted at /code"));
  EXPECT_EQ(TextOf(client.Run("python", "cat /code/file")), "of the project")
      << "an artifact that was found beats what the wrapper brings";
  EXPECT_THAT(boost::json::serialize(client.Run("data", "print(1)")),
              HasSubstr("Execution error: "))
      << "no closure is to be had, and nothing stands in for it";
  EXPECT_FALSE(std::filesystem::exists(Path("executed")));
}

TEST_F(NixSandboxMcp, ReadsItsConfigurationFromAFileToo) {
  Write(Path("project/file"), "of the project");
  const std::string text = R"({"environments":{},"project":{"path":")" + Path("project") +
                           R"(","mount_point":"/code"}})";
  Write(Path("elsewhere/environments.json"), text);
  McpClient named = Start({"NIX_SANDBOX_METADATA=" + Path("elsewhere/environments.json")});
  EXPECT_THAT(Instructions(named), HasSubstr("mounted at /code"));
  McpClient without = Start();
  EXPECT_THAT(Instructions(without), Not(HasSubstr("mounted"))) << "control";
  Write(Path("home/.config/nix-sandbox-mcp/environments.json"), text);
  McpClient usual = Start();
  EXPECT_THAT(Instructions(usual), HasSubstr("mounted at /code"));
  EXPECT_EQ(TextOf(usual.Run("shell", "cat /code/file")), "of the project");
  McpClient missing = Start({"NIX_SANDBOX_METADATA=/nonexistent/environments.json"});
  const Outcome outcome = missing.running().Finish();
  EXPECT_EQ(outcome.status, 1);
  EXPECT_THAT(outcome.err, HasSubstr("/nonexistent/environments.json"));
}

TEST_F(NixSandboxMcp, WhatItCannotServeIsSaidOnce) {
  McpClient client =
      Start({"NIX_SANDBOX_METADATA={\"environments\":{\"python\":{\"backend\":\"jail\","
             "\"exec\":\"/nowhere/run\"}}}",
             "NIX_SANDBOX_ENVS=--bad"});
  client.Initialize("2024-11-05");
  EXPECT_TRUE(client.running().WaitForErrors("environment 'python' cannot be used: "));
  EXPECT_TRUE(client.running().WaitForErrors("'--bad' is no flake"));
  // Something else changes, and nothing of the configuration.
  Add("home/.config/nix-sandbox-mcp/sandboxes/x", "mine");
  EXPECT_TRUE(WaitFor([&] {
    const JsonObject answer = client.Run("mine", "echo served");
    return !answer.contains("error") && TextOf(answer) == "served\n";
  }));
  EXPECT_THAT(client.running().errors(), Not(HasSubstr("read again")));
  client.running().Signal(SIGHUP);
  EXPECT_TRUE(client.running().WaitForErrors("the configuration was read again"));
  const std::string said = client.running().Finish().err;
  for (const char* name : {"environment 'python' cannot", "'--bad' is no flake"}) {
    EXPECT_EQ(said.find(name, said.find(name) + 1), std::string::npos) << said;
  }
}

TEST_F(NixSandboxMcp, ABrokenConfigurationOfItsWrapperIsSaid) {
  McpClient client = Start({"NIX_SANDBOX_METADATA={"});
  const Outcome outcome = client.running().Finish();
  EXPECT_EQ(outcome.status, 1);
  EXPECT_THAT(outcome.err, HasSubstr("NIX_SANDBOX_METADATA"));
}

TEST_F(NixSandboxMcp, SessionsLiveAsLongAsTheVariablesSayUnlessTheFileDoes) {
  Write(Path("config.toml"), "[session]\nmax_lifetime_seconds = 600\n");
  McpClient fixed = Start({"SESSION_MAX_LIFETIME=1", "IGLOO_CONFIG=" + Path("config.toml")});
  McpClient brief = Start({"SESSION_MAX_LIFETIME=1"});
  for (McpClient* each : {&fixed, &brief}) {
    each->Initialize("2024-11-05");
    each->Run("shell", "x=kept", {{"session", "s"}});
  }
  const auto seen = [](McpClient& client) {
    return TextOf(client.Run("shell", "echo ${x:-gone}", {{"session", "s"}}));
  };
  // Whoever begins another session ends those that are too old.
  int others = 0;
  EXPECT_TRUE(WaitFor(
      [&] {
        brief.Run("shell", ":", {{"session", std::to_string(++others)}});
        return seen(brief) == "gone\n";
      },
      30));
  EXPECT_EQ(seen(fixed), "kept\n") << "as old as the other one";
}

TEST_F(NixSandboxMcp, SaysAsMuchAsItsFilterAllows) {
  Write(Path("sandboxes/bad/metadata.json"), "{");
  const std::string place = "NIX_SANDBOX_DIR=" + Path("sandboxes");
  const auto said = [&](std::vector<std::string> env, std::vector<std::string> args) {
    env.push_back(place);
    McpClient client = Start(std::move(env), std::move(args));
    client.Initialize("2024-11-05");
    return client.running().Finish().err;
  };
  EXPECT_THAT(said({}, {}), HasSubstr("is no environment"));
  EXPECT_THAT(said({}, {"--log-level", "error"}), Not(HasSubstr("is no environment")));
  EXPECT_THAT(said({"RUST_LOG=nix_sandbox_mcp=warn"}, {"--log-level", "error"}),
              HasSubstr("is no environment"))
      << "the filter beats the option";
  EXPECT_EQ(said({"RUST_LOG=off"}, {}), "");
}

}  // namespace
}  // namespace igloo::testing
