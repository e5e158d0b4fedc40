// The life of an environment from Nix: added, renewed, removed, collected.

#include <gmock/gmock.h>
#include <signal.h>
#include <sys/stat.h>

#include <boost/json/serialize.hpp>
#include <filesystem>
#include <fstream>

#include "support/mcp.h"
#include "support/nix.h"

namespace igloo::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
namespace fs = std::filesystem;

class NixLife : public WithNix {
 protected:
  void Hello(const std::string& text) const {
    WriteFlake("tools", "{ packages.${system} = { hello = program \"hello\" \"echo " + text +
                            "\"; waits = program \"waits\" \"echo ready; cat\"; }; }");
  }
  std::string Ran() const {
    const Outcome run = Igloo({"run", "--env", "hello", "hello"});
    return run.out + run.err;
  }
  /// The links that keep store paths of an environment.
  int Roots(const std::string& name) const {
    int count = 0;
    std::error_code ignored;
    for (const auto& each : fs::directory_iterator(State(name), ignored)) {
      count += each.path().filename().string().starts_with("result-") ? 1 : 0;
    }
    return count;
  }
};

TEST_F(NixLife, IsAddedRenewedAndRemoved) {
  Hello("one");
  const Outcome added = Igloo({"env", "add", Flake("tools") + "#hello"});
  EXPECT_EQ(added.status, 0) << added.err;
  EXPECT_THAT(added.out, HasSubstr("hello: built from path:" + Path("tools") + " at sha256-"));
  EXPECT_EQ(Ran(), "one\n");
  EXPECT_THAT(Listed("hello"), HasSubstr("\"source\":\"" + Flake("tools") + "#hello\""));

  Hello("two");
  EXPECT_EQ(Ran(), "one\n") << "it is pinned";
  const Outcome updated = Igloo({"env", "update"});
  EXPECT_EQ(updated.status, 0) << updated.err;
  EXPECT_THAT(updated.out, AllOf(HasSubstr("hello: path:"), HasSubstr(" -> path:")));
  EXPECT_EQ(Ran(), "two\n");
  EXPECT_EQ(Roots("hello"), 1) << "the old one is let go";
  EXPECT_THAT(Igloo({"env", "update", "--json"}).out, HasSubstr("\"changed\":false"));

  EXPECT_THAT(Igloo({"env", "remove", "hello"}).out, HasSubstr("removed: hello"));
  EXPECT_FALSE(fs::exists(State("hello")));
  EXPECT_THAT(Ran(), HasSubstr("there is no environment 'hello'"));
  EXPECT_THAT(Igloo({"env", "remove", "hello"}).err, HasSubstr("none that 'igloo env add' added"));
}

TEST_F(NixLife, WhatCannotBeBuiltIsNotAdded) {
  Hello("one");
  const Outcome added = Igloo({"env", "add", Flake("tools") + "#missing"});
  EXPECT_EQ(added.status, 125);
  EXPECT_THAT(added.err,
              AllOf(HasSubstr("was not added"), HasSubstr("Package 'missing' not found in flake"),
                    HasSubstr("try again: igloo env add "), Not(HasSubstr("igloo env build"))));
  EXPECT_FALSE(fs::exists(State("missing")));
  EXPECT_EQ(Listed("missing"), "");
}

TEST_F(NixLife, AFailedRenewalKeepsWhatThereIs) {
  Hello("one");
  EXPECT_EQ(Igloo({"env", "add", Flake("tools") + "#hello"}).status, 0);
  Write("tools/flake.nix", "{ broken");
  const Outcome updated = Igloo({"env", "update", "hello"});
  EXPECT_EQ(updated.status, 125);
  EXPECT_THAT(updated.err, HasSubstr("syntax error"));
  EXPECT_EQ(Ran(), "one\n");
}

TEST_F(NixLife, NamesThatAreTakenAreRefused) {
  Hello("one");
  WriteFlake("shell", R"nix({ packages.${system}.default = program "own" "echo own"; })nix");
  EXPECT_THAT(Igloo({"env", "add", Flake("shell")}).err,
              AllOf(HasSubstr("'shell' is the name of an environment of igloo's own"),
                    HasSubstr("--name")));
  EXPECT_EQ(Igloo({"env", "add", Flake("shell"), "--name", "shell"}).status, 0);
  EXPECT_EQ(Igloo({"run", "--env", "shell", "own"}).out, "own\n");
  EXPECT_EQ(Igloo({"env", "remove", "shell"}).status, 0);
  EXPECT_THAT(Igloo({"run", "--env", "shell", "own"}).status, 127);

  EXPECT_EQ(Igloo({"env", "add", Flake("tools") + "#hello"}).status, 0);
  EXPECT_THAT(Igloo({"env", "add", Flake("tools") + "#waits", "--name", "hello"}).err,
              HasSubstr("was added already"));
  EXPECT_THAT(Igloo({"env", "add", Flake("tools") + "#hello", "--name", "../x"}).err,
              HasSubstr("cannot be a name"));
  Configure("[environments.mine]\nflake = \"" + Flake("tools") + "#hello\"\n");
  EXPECT_THAT(Igloo({"env", "add", Flake("tools") + "#hello", "--name", "mine"}).err,
              AllOf(HasSubstr("already configured at " + Path(kUsual)), HasSubstr("--name")));
  EXPECT_EQ(Igloo({"env", "build", "mine"}).status, 0);
  EXPECT_THAT(Igloo({"env", "remove", "mine"}).err,
              AllOf(HasSubstr("is configured at " + Path(kUsual)), HasSubstr("igloo env gc")));
  // What shells offer behind these words.
  EXPECT_EQ(Igloo({"env", "build", "--names"}).out, "hello\nmine\n");
  EXPECT_EQ(Igloo({"env", "remove", "--names"}).out, "hello\n");
}

TEST_F(NixLife, AServerSaysWhatIsReadyAndWhatIsNot) {
  Hello("one");
  const auto section = [&](const std::string& name, const std::string& attribute) {
    return "[environments." + name + "]\ninterpreter = \"sh\"\nflake = \"" + Flake("tools") + "#" +
           attribute + "\"\n";
  };
  Configure(section("x", "hello") + section("y", "waits") + section("bad", "missing"));
  McpClient client({.env = Variables()});
  client.Initialize();
  EXPECT_TRUE(client.running().WaitForErrors("environment 'x' is ready"));
  EXPECT_TRUE(client.running().WaitForErrors("environment 'y' is ready"));
  EXPECT_TRUE(client.running().WaitForErrors("environment 'bad' cannot be used: "));
  const std::string said = client.running().Finish().err;
  EXPECT_EQ(said.find("'bad' cannot"), said.rfind("'bad' cannot")) << said;
  EXPECT_THAT(said, AllOf(HasSubstr("Package 'missing' not found"), Not(HasSubstr("read again")),
                          Not(HasSubstr("not been built yet"))));
}

TEST_F(NixLife, ACallHearsWhatNixSaysWhileItBuildsAndThenRuns) {
  Hello("one");
  const std::string go = Path("go"), once = Path("once");
  ASSERT_EQ(::mkfifo(go.c_str(), 0600), 0);
  BeforeNix("[ -e " + once + " ] || { : > " + once + "; echo 'copying the world' >&2; read x < " +
            go + "; }");
  Configure("[environments.x]\ninterpreter = \"sh\"\nflake = \"" + Flake("tools") +
            "#hello\"\n[environments.other]\nalias = \"x\"\n");
  McpClient client({.env = Variables()});
  client.Initialize();
  // Whoever cannot be told how it goes on does not wait.
  EXPECT_THAT(TextOf(client.Run("x", "hello")), HasSubstr("not been built yet"));
  const std::int64_t id =
      client.Send("tools/call", {{"name", "run"},
                                 {"arguments", JsonObject{{"env", "other"}, {"code", "hello"}}},
                                 {"_meta", JsonObject{{"progressToken", "t"}}}});
  const std::int64_t cancelled =
      client.Send("tools/call", {{"name", "run"},
                                 {"arguments", JsonObject{{"env", "x"}, {"code", "hello"}}},
                                 {"_meta", JsonObject{{"progressToken", "u"}}}});
  client.Notify("notifications/cancelled", {{"requestId", cancelled}});
  std::string message;
  while (message.empty()) {
    const std::optional<JsonObject> told = client.NextOther();
    ASSERT_TRUE(told);
    if (told->at("method").as_string() != "notifications/progress") continue;
    EXPECT_EQ(told->at("params").at("progressToken").as_string(), "t");
    if (const Json* said = told->at("params").as_object().if_contains("message")) {
      message = said->as_string();
    }
  }
  EXPECT_EQ(message, "copying the world");
  std::ofstream(go) << "\n";
  const JsonObject answer = client.Wait(id);
  ASSERT_TRUE(answer.contains("result")) << boost::json::serialize(answer);
  EXPECT_THAT(TextOf(answer.at("result").as_object()), ::testing::StartsWith("one\n"));
}

TEST_F(NixLife, SandboxMcpBuildsWhatTheConfigurationNames) {
  Hello("one");
  const auto section = [&](const std::string& name, const std::string& attribute) {
    return "[environments." + name + "]\nflake = \"" + Flake("tools") + "#" + attribute + "\"\n";
  };
  const auto build = [&] {
    return RunProgram(
        {.program = BinDirectory() + "/sandbox-mcp", .args = {"--build"}, .env = Variables()});
  };
  Configure(section("x", "hello") + section("bad", "missing"));
  const Outcome first = build();
  EXPECT_EQ(first.status, 1);
  EXPECT_THAT(first.err, AllOf(HasSubstr("'x': Nix has built it from " + Flake("tools") + "#hello"),
                               HasSubstr("'bad': "), HasSubstr("Package 'missing' not found"),
                               HasSubstr("'shell' needs no build")));
  EXPECT_EQ(Igloo({"run", "--env", "x", "hello"}).out, "one\n");
  Configure(section("x", "hello"));
  const Outcome second = build();
  EXPECT_EQ(second.status, 0) << second.err;
  EXPECT_THAT(second.err, HasSubstr("'x' needs no build: Nix has made it already"));
}

TEST_F(NixLife, CheckingAConfigurationLooksForItsFlakesAndBuildsNone) {
  Hello("one");
  CountCalls();
  Configure("[environments.x]\nflake = \"" + Flake("tools") +
            "#hello\"\n[environments.gone]\nflake = \"./nowhere#hello\"\n");
  const Outcome checked = Igloo({"config", "check"});
  EXPECT_EQ(checked.status, 0) << checked.err;
  EXPECT_THAT(checked.err, AllOf(HasSubstr("environment 'gone' cannot be used here: there is no '"),
                                 HasSubstr("/nowhere/flake.nix'"), Not(HasSubstr("'x'"))));
  EXPECT_EQ(Calls(), 0);
}

TEST_F(NixLife, TheCollectorTakesWhatNobodyNames) {
  Hello("one");
  Configure("[environments.mine]\nflake = \"" + Flake("tools") + "#hello\"\n");
  EXPECT_EQ(Igloo({"env", "build"}).status, 0);
  EXPECT_EQ(Igloo({"env", "add", Flake("tools") + "#waits"}).status, 0);
  EXPECT_THAT(Igloo({"env", "gc"}).out, HasSubstr("nothing to remove"));
  Configure("");
  EXPECT_EQ(Igloo({"env", "gc"}).out, "removed: mine\n");
  EXPECT_FALSE(fs::exists(State("mine")));
  EXPECT_TRUE(fs::exists(State("waits")));
  const Outcome collected = Igloo({"env", "gc", "--collect"});
  EXPECT_EQ(collected.status, 0) << collected.err;
  EXPECT_THAT(collected.out, HasSubstr("freed"));
  // What is still named has lost nothing.
  EXPECT_THAT(Igloo({"run", "--env", "waits", "waits </dev/null"}).out, HasSubstr("ready"));
}

TEST_F(NixLife, WhatIsInUseStays) {
  Hello("one");
  EXPECT_EQ(Igloo({"env", "add", Flake("tools") + "#waits"}).status, 0);
  Running run = Start({"run", "--env", "waits", "waits"});
  ASSERT_TRUE(run.WaitForOutput("ready\n"));
  EXPECT_THAT(Igloo({"env", "remove", "waits"}).err, HasSubstr("is in use"));
  // Renewed under it: the old one keeps its root.
  WriteFlake("tools", R"nix({ packages.${system}.waits = program "waits" "echo other"; })nix");
  EXPECT_EQ(Igloo({"env", "update", "waits"}).status, 0);
  EXPECT_EQ(Roots("waits"), 2);
  EXPECT_EQ(run.Finish().status, 0);
  EXPECT_EQ(Igloo({"env", "gc"}).status, 0);
  EXPECT_EQ(Roots("waits"), 1);
  EXPECT_EQ(Igloo({"env", "remove", "waits"}).status, 0);
}

}  // namespace
}  // namespace igloo::testing
