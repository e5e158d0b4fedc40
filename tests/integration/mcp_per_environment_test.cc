// The contract with one tool for each environment, as clients of the server see it.

#include <gmock/gmock.h>

#include <algorithm>
#include <boost/json/serialize.hpp>
#include <filesystem>

#include "support/configured.h"
#include "support/mcp.h"

namespace igloo::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsSupersetOf;

class McpPerEnvironment : public Configured {
 protected:
  static constexpr const char* kSandboxes = ".config/sandbox-mcp/sandboxes/";

  /// A client of igloo under its other name, or of `igloo args...`.
  McpClient& Start(std::string program = "sandbox-mcp",
                   std::vector<std::string> args = {"--stdio"}) {
    client_ = std::make_unique<McpClient>(
        McpClient::Options{.program = std::move(program),
                           .args = std::move(args),
                           .env = {"PATH=/usr/bin:/bin", "HOME=" + Path("")}});
    info_ = client_->Initialize("2025-03-26");
    return *client_;
  }
  std::vector<std::string> ToolNames() {
    std::vector<std::string> names;
    const JsonObject answer = client_->Ask("tools/list");
    for (const Json& tool : answer.at("result").at("tools").as_array()) {
      names.emplace_back(tool.at("name").as_string());
    }
    return names;
  }
  Json Tool(std::string_view name) {
    const JsonObject answer = client_->Ask("tools/list");
    for (const Json& tool : answer.at("result").at("tools").as_array()) {
      if (tool.at("name").as_string() == name) return tool;
    }
    return nullptr;
  }
  /// "CODE MESSAGE" of a call that is answered with an error of the protocol.
  std::string ErrorOf(std::string_view tool, const JsonObject& arguments) {
    const JsonObject result = client_->Call(tool, arguments);
    const Json* error = result.if_contains("error");
    if (error == nullptr) return "none: " + boost::json::serialize(result);
    return boost::json::serialize(error->at("code")) + " " +
           std::string(error->at("message").as_string());
  }

  std::unique_ptr<McpClient> client_ = {};
  JsonObject info_ = {};
};

TEST_F(McpPerEnvironment, TheServerIsTheOneThatClientsKnow) {
  Start();
  EXPECT_EQ(info_.at("serverInfo").at("name").as_string(), "Sandbox MCP");
  EXPECT_EQ(info_.at("serverInfo").at("version").as_string(), "0.1.0");
  EXPECT_THAT(ToolNames(), ElementsAre("shell", "go", "python", "javascript", "rust", "java",
                                       "network-tools", "apisix"));
  EXPECT_EQ(boost::json::serialize(Tool("shell").at("annotations")),
            R"({"title":"Linux Shell","readOnlyHint":true,"destructiveHint":false,)"
            R"("idempotentHint":true,"openWorldHint":false})");
}

TEST_F(McpPerEnvironment, NothingIsWrittenByStarting) {
  Start();
  client_->Call("shell", {{"main_sh", "true"}});
  EXPECT_FALSE(std::filesystem::exists(Path(".config")));
}

// The limits are those of the contract: as root a group counts all of a run's memory, and a user's
// processes are limited one by one.
TEST_F(McpPerEnvironment, EveryLanguageWorksWithinItsLimits) {
  Start();
  const std::vector<std::pair<std::string, JsonObject>> calls = {
      {"shell", {{"main_sh", "echo hello"}}},
      {"go",
       {{"main_go", "package main\nimport \"fmt\"\nfunc main() { fmt.Println(\"hello\") }\n"},
        {"go_mod", "module sandbox\n"}}},
      {"python", {{"main_py", "print('hello')"}}},
      {"javascript", {{"index_js", "console.log('hello')"}}},
      {"rust", {{"main_rs", "fn main() { println!(\"hello\"); }"}}},
      {"java",
       {{"main_java",
         "public class Main { public static void main(String[] a) { System.out.println(\"hello\"); "
         "} }"}}},
  };
  for (const auto& [tool, arguments] : calls) {
    const JsonObject result = client_->Call(tool, arguments);
    EXPECT_EQ(TextOf(result), "hello\n") << tool;
    EXPECT_FALSE(IsError(result)) << tool;
  }
}

// BUG-B2: a name that is no name ended the server, or wrote outside.
TEST_F(McpPerEnvironment, BadArgumentsAreAnsweredAndTheServerGoesOn) {
  Start();
  EXPECT_EQ(ErrorOf("shell", {}), "-32603 main.sh file is required");
  EXPECT_EQ(ErrorOf("go", {{"main_go", "package main"}}), "-32603 go.mod file is required");
  const auto with = [](JsonObject file) {
    return JsonObject{{"main_sh", "ls"}, {"files", boost::json::array{std::move(file)}}};
  };
  EXPECT_THAT(ErrorOf("shell", with({{"filename", "../../escaped"}, {"content", "x"}})),
              HasSubstr("-32602 failed to write file ../../escaped: "));
  EXPECT_THAT(ErrorOf("shell", with({{"content", "x"}})), HasSubstr("-32602 "));
  EXPECT_EQ(TextOf(client_->Call("shell", with({{"filename", "a"}, {"content", "x"}}))),
            "a\nmain.sh\n");
}

TEST_F(McpPerEnvironment, WhatCannotRunSaysWhatIsMissing) {
  Start();
  const JsonObject result = client_->Call("apisix", {{"main_sh", "true"}, {"apisix_yaml", "#END"}});
  EXPECT_TRUE(IsError(result));
  EXPECT_THAT(TextOf(result),
              HasSubstr("is not pulled yet; igloo env pull docker.io/apache/apisix:"));
  // Its network is there, whatever it reaches.
  const JsonObject tools = client_->Call("network-tools", {{"main_sh", "echo $HTTP_PROXY"}});
  EXPECT_EQ(TextOf(tools), "http://127.0.0.1:3128\n");
}

TEST_F(McpPerEnvironment, TheEndOfTheTimeIsAProtocolError) {
  Write(std::string(kSandboxes) + "shell/config.json",
        R"({"id": "shell", "entrypoint": "main.sh", "timeout": 1, "command": ["sh", "main.sh"]})");
  Start();
  EXPECT_EQ(ErrorOf("shell", {{"main_sh", "while :; do :; done"}}),
            "-32603 execution timeout after 1 seconds");
}

// BUG-B4: one directory that was no sandbox took the whole server down.
TEST_F(McpPerEnvironment, TheUsersSandboxesAreServedWhateverLiesBesideThem) {
  Write(std::string(kSandboxes) + "mine/config.json",
        R"({"id": "mine", "image": "sandbox-mcp/python:latest", "entrypoint": "go.py",
            "command": ["python", "go.py"], "parameters": {"files": [{"name": "in.txt"}]}})");
  Write(std::string(kSandboxes) + "broken/config.json", "{\n  \"id\": 7\n}");
  std::filesystem::create_directories(Path(std::string(kSandboxes) + ".git"));
  Start();
  EXPECT_THAT(ToolNames(), IsSupersetOf({"mine", "python", "apisix"}));
  EXPECT_EQ(TextOf(client_->Call("mine",
                                 {{"go_py", "print(open('in.txt').read())"}, {"in_txt", "given"}})),
            "given\n");
  EXPECT_TRUE(client_->running().WaitForErrors("'id' is not a text"));
  EXPECT_THAT(client_->running().errors(), HasSubstr("[Sandbox MCP] "));
}

TEST_F(McpPerEnvironment, IglooServesTheSameAndWhateverElseIsConfigured) {
  Write(kUsual,
        "[environments.numbers]\npreset = \"python\"\n[environments.web]\npreset = \"go\"\n");
  Start("igloo", {"mcp", "--tools", "per-environment"});
  EXPECT_THAT(ToolNames(),
              ElementsAre("shell", "go", "python", "javascript", "rust", "java", "network-tools",
                          "apisix", "ruby", "perl", "numbers", "web"));
  EXPECT_EQ(TextOf(client_->Call("numbers", {{"main_py", "print(6 * 7)"}})), "42\n");
  const char* go = "package main\nimport \"fmt\"\nfunc main() { fmt.Println(6 * 7) }\n";
  EXPECT_EQ(TextOf(client_->Call("web", {{"main_go", go}})), "42\n");
  Start("igloo", {"mcp", "--tools", "both"});
  EXPECT_THAT(ToolNames(), IsSupersetOf({"run", "shell", "numbers"}));
}

TEST_F(McpPerEnvironment, TwoToolsNeverHaveOneName) {
  Write(
      std::string(kSandboxes) + "run/config.json",
      R"({"id": "run", "image": "shell", "entrypoint": "main.sh", "command": ["sh", "main.sh"]})");
  Start("igloo", {"mcp", "--tools", "both"});
  EXPECT_EQ(std::ranges::count(ToolNames(), "run"), 1);
  EXPECT_TRUE(Tool("run").at("inputSchema").at("properties").as_object().contains("code"));
}

}  // namespace
}  // namespace igloo::testing
