// `igloo agent` around a program that is no agent: what needs none.

#include <gmock/gmock.h>
#include <signal.h>

#include <boost/json/parse.hpp>

#include "support/agent_box.h"
#include "support/host.h"

namespace igloo::testing {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

using AgentTest = AgentBox;

TEST_F(AgentTest, PassesExitCodesAndSignalsOn) {
  EXPECT_EQ(InBox("exit 0").status, 0);
  EXPECT_EQ(InBox("exit 7").status, 7);
  EXPECT_EQ(InBox("kill -TERM $$").status, 128 + SIGTERM);
  const Outcome missing = RunProgram(AgentBox::Agent({"--cmd", "no-such-program", "--yes"}));
  EXPECT_EQ(missing.status, 127) << missing.err;
  EXPECT_THAT(missing.err, HasSubstr("'no-such-program' is not on PATH"));
}

TEST_F(AgentTest, PassesStandardInputAndBothOutputsOn) {
  Invocation invocation = Script("tr a-z A-Z; echo beside >&2");
  invocation.input = "quiet words\n";
  const Outcome outcome = RunProgram(invocation);
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_EQ(outcome.out, "QUIET WORDS\n");
  EXPECT_EQ(outcome.err, "beside\n");
}

TEST_F(AgentTest, WorksInTheProjectAtItsRealPathAndSeesNothingElseOfTheUsers) {
  Write("home/.ssh/id_ed25519", "canary-of-a-key");
  Write("home/code/other/secret", "canary-of-a-project");
  const Outcome outcome = InBox(
      "pwd; cat file; echo new >file; echo made >made; cat ~/.ssh/id_ed25519 ../other/secret; "
      "ls -A ~ ..; env");
  EXPECT_THAT(outcome.out, AllOf(HasSubstr(project() + "\nold\n"), HasSubstr("IGLOO_BOX=bash-")));
  EXPECT_THAT(outcome.out + outcome.err, Not(HasSubstr("canary")));
  EXPECT_EQ(Read("home/code/project/file"), "new\n");
  EXPECT_EQ(Read("home/code/project/made"), "made\n");
}

TEST_F(AgentTest, LeavesNothingInAProjectInWhichItDoesNothing) {
  const auto before = SnapshotOf(project());
  EXPECT_EQ(InBox("true").status, 0);
  EXPECT_EQ(SnapshotOf(project()), before);
}

TEST_F(AgentTest, RefusesToStartUnaskedWithoutATerminal) {
  const Outcome outcome = RunProgram(AgentBox::Agent({"--cmd", "bash", "--network", "none"}));
  EXPECT_EQ(outcome.status, 125);
  EXPECT_THAT(outcome.err, AllOf(HasSubstr("standard input is no terminal"), HasSubstr("--yes")));
  EXPECT_THAT(outcome.err, HasSubstr(project())) << "and shows what the box would get";
}

TEST_F(AgentTest, ADryRunAndASummaryChangeNothingAndShowNoSecret) {
  Write("home/claude", "#!/bin/sh\n");
  fs::permissions(Path("home/claude"), fs::perms(0755));
  const auto before = SnapshotOf(home());
  for (const char* how : {"--dry-run", "--summary"}) {
    for (const bool json : {false, true}) {
      Invocation invocation = AgentBox::Agent({"claude", how, "--network", "allow"});
      if (json) invocation.args.emplace_back("--json");
      std::erase_if(invocation.env, [](const auto& each) { return each.starts_with("PATH="); });
      invocation.env.insert(invocation.env.end(), {"PATH=" + home() + ":/usr/bin:/bin",
                                                   "ANTHROPIC_API_KEY=sk-ant-canary-0123456789"});
      const Outcome outcome = RunProgram(invocation);
      EXPECT_EQ(outcome.status, 0) << outcome.err;
      EXPECT_THAT(outcome.out, HasSubstr("IGLOO_ANTHROPIC_KEY")) << how;
      EXPECT_THAT(outcome.out + outcome.err, Not(HasSubstr("canary"))) << how;
    }
  }
  EXPECT_EQ(SnapshotOf(home()), before);
}

TEST_F(AgentTest, RefusesTheHomeDirectoryAsAProject) {
  Invocation invocation = Script("true");
  invocation.args[2] = home();
  const Outcome outcome = RunProgram(invocation);
  EXPECT_EQ(outcome.status, 125);
  EXPECT_THAT(outcome.err, HasSubstr("holds far more than a project"));
}

TEST_F(AgentTest, ListsBoxesByNameAndStopsThem) {
  Running one(Script("echo up; sleep 1000", {"--name", "one"}));
  Running two(Script("echo up; sleep 1000"));
  ASSERT_TRUE(one.WaitForOutput("up")) << one.errors();
  ASSERT_TRUE(two.WaitForOutput("up")) << two.errors();
  const Outcome list = RunProgram(AgentBox::Agent({"list", "--json"}));
  const auto boxes = boost::json::parse(list.out).at("boxes").as_array();
  ASSERT_EQ(boxes.size(), 2U) << list.out;
  EXPECT_EQ(boxes[0].at("name"), "bash-project");
  EXPECT_EQ(boxes[1].at("name"), "one");
  EXPECT_EQ(boxes[1].at("project").as_string(), project());
  const Outcome again = InBox("true", {"--name", "one"});
  EXPECT_EQ(again.status, 125);
  EXPECT_THAT(again.err, AllOf(HasSubstr("there is a box 'one' already"), HasSubstr("stop one")));
  const Outcome stopped = RunProgram(AgentBox::Agent({"stop", "one"}));
  EXPECT_EQ(stopped.status, 0) << stopped.err;
  EXPECT_NE(one.Finish().status, 0);
  EXPECT_THAT(RunProgram(AgentBox::Agent({"list"})).out,
              AllOf(HasSubstr("bash-project"), Not(HasSubstr("\none"))));
}

TEST_F(AgentTest, NothingIsLeftWhenIglooIsKilled) {
  const std::string marker = UniqueMarker();
  Running box(Script("echo up; exec -a " + marker + " sleep 1000"));
  ASSERT_TRUE(box.WaitForOutput("up")) << box.errors();
  box.Signal(SIGKILL);
  box.Finish();
  EXPECT_TRUE(WaitFor([&] { return FindMarked(marker).empty(); }));
  const Outcome list = RunProgram(AgentBox::Agent({"list", "--json"}));
  EXPECT_EQ(list.out, "{\"boxes\":[]}\n") << "and the registry does not count it";
  EXPECT_TRUE(fs::is_empty(home() + "/.local/state/igloo/boxes"));
}

TEST_F(AgentTest, AnAgentOfTheConfigurationIsStartedByItsName) {
  Write("home/config.toml",
        "[agents.mine]\nprogram = \"bash\"\narguments = [\"-c\", \"echo $0 $MODEL; cat $1; "
        "echo x >~/.mine/x\"]\npass = [\"MODEL\"]\nhome = [\".mine\"]\n");
  fs::create_directory(Path("home/.mine"));
  Invocation invocation =
      AgentBox::Agent({"mine", "--config", Path("home/config.toml"), "--yes", "--network", "none",
                       "--", "zero", "/run/igloo/SANDBOX.md"});
  invocation.env.emplace_back("MODEL=large");
  const Outcome outcome = RunProgram(invocation);
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_THAT(outcome.out, AllOf(HasSubstr("zero large\n"), HasSubstr("# Sandbox")));
  EXPECT_EQ(Read("home/.mine/x"), "x\n");
  const Outcome list =
      RunProgram(AgentBox::Agent({"list", "--available", "--config", Path("home/config.toml")}));
  EXPECT_THAT(list.out, AllOf(HasSubstr("mine"), HasSubstr("/usr/bin/bash"),
                              HasSubstr("npm install -g @openai/codex")));
}

TEST_F(AgentTest, AProjectsOwnFileAddsNoAgent) {
  Write("home/code/project/.igloo.toml", "[agents.mine]\nprogram = \"bash\"\n");
  const Outcome outcome = RunProgram(AgentBox::Agent({"mine", "--yes"}));
  EXPECT_EQ(outcome.status, 125);
  EXPECT_THAT(outcome.err, AllOf(HasSubstr("does not know 'mine'"), HasSubstr("[agents.NAME]")));
}

TEST_F(AgentTest, ChecksWhatABoxNeeds) {
  const Outcome fine = RunProgram(AgentBox::Agent({"--cmd", "bash", "--check"}));
  EXPECT_EQ(fine.status, 0) << fine.out << fine.err;
  for (const char* line : {"OK   program", "OK   git", "OK   project", "OK   walls"}) {
    EXPECT_THAT(fine.out, HasSubstr(line));
  }
  EXPECT_THAT(fine.out, HasSubstr("All checks passed.\n"));
  const Outcome missing = RunProgram(AgentBox::Agent({"codex", "--check", "--json"}));
  EXPECT_EQ(missing.status, 1) << missing.out << missing.err;
  const auto result = boost::json::parse(missing.out);
  EXPECT_EQ(result.at("passed"), false);
  for (const auto& each : result.at("checks").as_array()) {
    if (each.at("name") == "program") {
      EXPECT_EQ(each.at("state"), "FAIL");
      EXPECT_EQ(each.at("fix"), "install it: npm install -g @openai/codex");
    } else if (each.at("name") == "account") {
      EXPECT_EQ(each.at("state"), "WARN");
    }
  }
}

TEST_F(AgentTest, WorksOnACopyAndTheUserTakesItsChanges) {
  const Outcome outcome =
      InBox("echo new > file; echo made > made; cat file", {"--propose", "--name", "idea"});
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_EQ(outcome.out, "new\n");
  EXPECT_THAT(outcome.err, HasSubstr("igloo apply idea"));
  EXPECT_EQ(Read("home/code/project/file"), "old\n");
  EXPECT_FALSE(fs::exists(project() + "/made"));
  const auto igloo = [&](std::vector<std::string> words) {
    return RunProgram(
        {.program = BinDirectory() + "/igloo", .args = std::move(words), .env = Variables()});
  };
  EXPECT_THAT(igloo({"changes", "show", "idea"}).out, AllOf(HasSubstr("file"), HasSubstr("made")));
  const Outcome applied = igloo({"apply", "idea", "file"});
  EXPECT_EQ(applied.status, 0) << applied.err;
  EXPECT_EQ(Read("home/code/project/file"), "new\n");
  EXPECT_FALSE(fs::exists(project() + "/made")) << "only what was named";
  EXPECT_EQ(igloo({"discard", "idea"}).status, 0);
}

TEST_F(AgentTest, SecretsInTheProjectAreHidden) {
  Write("home/code/project/.env", "TOKEN=canary\n");
  const Outcome outcome = InBox("cat .env; cat < .env; ls -A");
  EXPECT_THAT(outcome.out, HasSubstr(".env"));
  EXPECT_THAT(outcome.out + outcome.err, Not(HasSubstr("canary")));
  EXPECT_THAT(outcome.err, HasSubstr("Permission denied"));
}

}  // namespace
}  // namespace igloo::testing
