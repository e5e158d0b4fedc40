// What the configuration and the command line say about the server, and what they cannot say.

#include <gmock/gmock.h>
#include <signal.h>

#include <boost/json/serialize.hpp>

#include "support/configured.h"
#include "support/host.h"
#include "support/mcp.h"

namespace igloo::testing {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

class McpSettings : public Configured {
 protected:
  std::vector<std::string> Environment() const {
    return {"PATH=/usr/bin:/bin", "HOME=" + Path("")};
  }
  /// A client of a server with this configuration.
  std::unique_ptr<McpClient> Start(std::string_view config, std::vector<std::string> more = {},
                                   std::vector<std::string> env = {}) {
    Write(kUsual, config);
    std::vector<std::string> args = {"mcp"};
    args.insert(args.end(), more.begin(), more.end());
    for (const std::string& each : Environment()) env.push_back(each);
    auto client = std::make_unique<McpClient>(
        McpClient::Options{.args = std::move(args), .env = std::move(env)});
    greeting_ = client->Initialize();
    return client;
  }
  static std::vector<std::string> Names(McpClient& client) {
    std::vector<std::string> names;
    const JsonObject answer = client.Ask("tools/list");
    for (const Json& each : answer.at("result").at("tools").as_array()) {
      names.emplace_back(each.at("name").as_string());
    }
    return names;
  }
  static bool AlwaysLoads(McpClient& client) {
    const JsonObject answer = client.Ask("tools/list");
    return answer.at("result").at("tools").at(0).at("_meta").at("anthropic/alwaysLoad").as_bool();
  }
  /// Waits until clients are told of other tools.
  static void AwaitOtherTools(McpClient& client) {
    const auto told = client.NextOther();
    ASSERT_TRUE(told);
    EXPECT_EQ(told->at("method"), "notifications/tools/list_changed");
  }

  JsonObject greeting_ = {};
};

TEST_F(McpSettings, ControlSequencesAreLeftOutUnlessTheFileKeepsThem) {
  const std::string code =
      R"(show() { printf 'a\033[31mred\033[0m \302\205b\n'; }; show; show >&2)";
  const JsonObject usual = Start("")->Run("shell", code);
  EXPECT_EQ(usual.at("structuredContent").at("stdout").as_string(), "ared b\n");
  const JsonObject kept = Start("[daemon]\nterminal_sequences = 'keep'\n")->Run("shell", code);
  for (const char* stream : {"stdout", "stderr"}) {
    EXPECT_EQ(kept.at("structuredContent").at(stream).as_string(),
              "a\x1b[31mred\x1b[0m \xc2\x85"
              "b\n");
  }
  EXPECT_THAT(TextOf(kept), HasSubstr("\x1b[31mred"));
}

TEST_F(McpSettings, TheFileChoosesTheTransportAndTheCommandLineBeatsIt) {
  const std::string http = "[daemon]\ntransport = 'http'\nlisten = '127.0.0.1:0'\n";
  Write(kUsual, http);
  const auto start = [&](std::vector<std::string> args, const std::string& program = "igloo") {
    return std::make_unique<Running>(Invocation{
        .program = BinDirectory() + "/" + program, .args = std::move(args), .env = Environment()});
  };
  const auto listening = start({"mcp", "--no-token"});
  EXPECT_TRUE(listening->WaitForErrors("serving MCP at http://127.0.0.1:")) << listening->errors();
  const auto elsewhere = start({"mcp", "--http", "unix:" + Path("socket")});
  EXPECT_TRUE(elsewhere->WaitForErrors("serving MCP at unix:")) << elsewhere->errors();
  EXPECT_EQ(TextOf(Start(http, {"--stdio"})->Run("shell", "echo here")).substr(0, 5), "here\n");
  // Those that serve no HTTP.
  for (const char* program : {"nix-sandbox-mcp", "sandbox-mcp"}) {
    const Outcome refused = start({}, program)->Finish();
    EXPECT_EQ(refused.status, 1) << program;
    EXPECT_THAT(refused.err, AllOf(HasSubstr("transport = \"http\""), HasSubstr("--stdio")));
    const Outcome served = start({"--stdio"}, program)->Finish();
    EXPECT_EQ(served.status, 0) << program << served.err;
  }
}

TEST_F(McpSettings, AnAddressWhereNobodyWouldListenIsRefusedAtStart) {
  const auto refused = [&](const std::string& text) {
    Write(kUsual, text);
    const Outcome outcome =
        RunProgram({.program = BinDirectory() + "/igloo", .args = {"mcp"}, .env = Environment()});
    EXPECT_EQ(outcome.status, 125) << outcome.err;
    return outcome.err;
  };
  EXPECT_THAT(refused("[daemon]\nlisten = '127.0.0.1:9999'\n"),
              AllOf(HasSubstr("nobody would listen"), HasSubstr("transport = \"http\"")));
  EXPECT_THAT(refused("[daemon]\ntransport = 'http'\nlisten = 'here'\n"),
              HasSubstr("'listen' in [daemon]"));
}

TEST_F(McpSettings, TheFileSaysHowMuchIsSaid) {
  const auto said = [&](const std::string& level) {
    Write("app/x", "");
    Write(kUsual, "[daemon]\nlog_level = '" + level + "'\n[environments.gone]\npath = 'gone'\n");
    McpClient client({.env = Environment()});
    client.Initialize();
    client.Run("shell", "exit 3");
    return client.running().Finish().err;
  };
  const std::string warning = "environment 'gone' cannot be used",
                    call = "call of 'run' in 'shell'";
  EXPECT_THAT(said("error"), Not(HasSubstr(warning)));
  EXPECT_THAT(said("warn"), AllOf(HasSubstr(warning), Not(HasSubstr(call))));
  EXPECT_THAT(said("info"), AllOf(HasSubstr(warning), Not(HasSubstr(call))));
  EXPECT_THAT(said("debug"), AllOf(HasSubstr(warning), HasSubstr(call + ": exit, exit code 3")));
}

TEST_F(McpSettings, AChangedLevelCountsWithoutANewStart) {
  const auto client = Start("[daemon]\nlog_level = 'error'\n");
  client->Run("shell", ":");
  Write(kUsual, "[daemon]\nlog_level = 'debug'\n");
  EXPECT_TRUE(client->running().WaitForErrors("the configuration was read again"));
  client->Run("shell", ":");
  EXPECT_TRUE(client->running().WaitForErrors("call of 'run' in 'shell': ok"));
}

TEST_F(McpSettings, TheFileChoosesTheToolsAndTheCommandLineBeatsIt) {
  EXPECT_THAT(Names(*Start("")), ElementsAre("run"));
  EXPECT_THAT(Names(*Start("[daemon]\ntools = 'per-environment'\n")),
              AllOf(Contains("shell"), Not(Contains("run"))));
  EXPECT_THAT(Names(*Start("[daemon]\ntools = 'both'\n")),
              AllOf(Contains("shell"), Contains("run")));
  EXPECT_THAT(Names(*Start("[daemon]\ntools = 'both'\n", {"--tools", "run"})), ElementsAre("run"));
}

TEST_F(McpSettings, OtherToolsAreServedWithoutAnotherStart) {
  const auto client = Start("");
  EXPECT_THAT(Names(*client), ElementsAre("run"));
  Write(kUsual, "[daemon]\ntools = 'both'\n");
  AwaitOtherTools(*client);
  EXPECT_THAT(Names(*client), AllOf(Contains("shell"), Contains("run")));
  EXPECT_THAT(boost::json::serialize(client->Call("shell", {{"main_sh", "echo served"}})),
              HasSubstr("served"));
}

TEST_F(McpSettings, AlwaysLoadIsUpToTheUser) {
  EXPECT_TRUE(AlwaysLoads(*Start("")));
  EXPECT_FALSE(AlwaysLoads(*Start("[daemon]\nalways_load = false\n")));
}

TEST_F(McpSettings, SessionsHaveTheLimitsOfTheFile) {
  const auto client = Start("[session]\nlimit = 2\n");
  for (const char* name : {"a", "b"}) {
    EXPECT_FALSE(IsError(client->Run("shell", "true", {{"session", name}}))) << name;
  }
  EXPECT_THAT(TextOf(client->Run("shell", "true", {{"session", "c"}})),
              HasSubstr("there are 2 sessions already"));
  Write(kUsual, "[session]\nlimit = 3\n");
  ASSERT_TRUE(client->running().WaitForErrors("the configuration was read again"));
  EXPECT_FALSE(IsError(client->Run("shell", "true", {{"session", "c"}})));
}

TEST_F(McpSettings, AnUnusedSessionMakesRoomAfterItsTime) {
  for (const char* key : {"idle_timeout_seconds", "max_lifetime_seconds"}) {
    const auto client = Start("[session]\nlimit = 1\n" + std::string(key) + " = 0.001\n");
    EXPECT_FALSE(IsError(client->Run("shell", "true", {{"session", "a"}}))) << key;
    EXPECT_TRUE(WaitFor([&] { return !IsError(client->Run("shell", "true", {{"session", "b"}})); }))
        << key;
  }
}

TEST_F(McpSettings, AnUnusedSessionEndsByItself) {
  const auto client = Start(
      "[session]\nidle_timeout_seconds = 0.001\n"
      "[environments.shell]\nwarm = 0\n");
  EXPECT_FALSE(IsError(client->Run("shell", "true", {{"session", "a"}})));
  // Nobody asks the server for anything any more.
  EXPECT_TRUE(WaitFor([&] {
    return std::ranges::none_of(DescendantsOf(client->running().pid()),
                                [](const ProcessInfo& each) { return each.name == "bash"; });
  }));
}

TEST_F(McpSettings, AProjectThatIsNotThereIsNamed) {
  const auto client = Start("", {}, {"PROJECT_DIR=" + Path("nowhere")});
  const std::string note = "PROJECT_DIR is '" + Path("nowhere") + "'";
  EXPECT_TRUE(client->running().WaitForErrors(note));
  EXPECT_THAT(greeting_.at("instructions").as_string().c_str(), HasSubstr(note));
  EXPECT_THAT(TextOf(client->Run("shell", "echo served")), StartsWith("served\n"));
  const auto named = Start("", {"--no-project"}, {"PROJECT_DIR=" + Path("nowhere")});
  EXPECT_THAT(greeting_.at("instructions").as_string().c_str(), Not(HasSubstr(note)));
  EXPECT_THAT(named->running().Finish().err, Not(HasSubstr("PROJECT_DIR")));
}

TEST_F(McpSettings, AHomeThatIsNotThereIsNamed) {
  McpClient client({.env = {"PATH=/usr/bin:/bin", "HOME=" + Path("missing")}});
  client.Initialize();
  client.Run("shell", "true");
  EXPECT_TRUE(client.running().WaitForErrors("HOME is '" + Path("missing") + "'"));
}

TEST_F(McpSettings, WhatIsNotWatchedIsNamedOnce) {
  // One watch for everything: in a user namespace of its own the limit concerns nobody else.
  Running running(Invocation{
      .program = "/usr/bin/unshare",
      .args = {"-Ur", "sh", "-c", "echo 1 > /proc/sys/user/max_inotify_watches && exec \"$0\" mcp",
               BinDirectory() + "/igloo"},
      .env = Environment()});
  running.Write(
      boost::json::serialize(JsonObject{{"jsonrpc", "2.0"},
                                        {"id", 2},
                                        {"method", "tools/list"},
                                        {"params", JsonObject{{"_meta", ModernMeta()}}}}) +
      "\n");
  EXPECT_TRUE(running.WaitForErrors("not every change of the configuration is noticed"));
  running.Signal(SIGHUP);
  EXPECT_TRUE(running.WaitForErrors("the configuration was read again"));
  const std::string said = running.Finish().err;
  const std::size_t first = said.find("not every change");
  EXPECT_EQ(said.find("not every change", first + 1), std::string::npos) << said;
}

TEST_F(McpSettings, TheServerRefusesOptionsOfInstall) {
  for (const char* flag :
       {"--remove", "--json", "--dry-run", "--force", "--name=x", "--scope=user", "--file=x"}) {
    const Outcome outcome = Run({"mcp", flag});
    EXPECT_EQ(outcome.status, 125) << flag;
    EXPECT_THAT(outcome.out + outcome.err, HasSubstr("the server has no --")) << flag;
  }
}

TEST_F(McpSettings, InstallWritesNothingThatCannotStart) {
  for (const char* verb : {"install", "print-config"}) {
    const Outcome outcome = Run({"mcp", verb, "codex", "--tools", "bogus"});
    EXPECT_EQ(outcome.status, 125) << verb;
    EXPECT_THAT(outcome.err, HasSubstr("there are no tools 'bogus'")) << verb;
  }
  EXPECT_FALSE(std::filesystem::exists(Path(".codex/config.toml")));
  const Outcome printed = Run({"mcp", "print-config", "codex", "--project", Path("nowhere")});
  EXPECT_EQ(printed.status, 0);
  EXPECT_THAT(printed.err, HasSubstr("warning: there is no directory '" + Path("nowhere") + "'"));
  std::filesystem::create_directory(Path("here"));
  for (const char* mode : {"", ":overlay"}) {
    EXPECT_THAT(Run({"mcp", "print-config", "codex", "--project", Path("here") + mode}).err,
                Not(HasSubstr("warning")));
  }
}

}  // namespace
}  // namespace igloo::testing
