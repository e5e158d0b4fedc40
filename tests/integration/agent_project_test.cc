// Boxes around projects that change, cannot be written to, or go elsewhere meanwhile.

#include <gmock/gmock.h>
#include <unistd.h>

#include "base/text.h"
#include "support/agent_box.h"
#include "support/host.h"

namespace igloo::testing {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

class AgentProject : public AgentBox {
 protected:
  /// In the box: says that it runs, and waits for a line.
  static std::string Waiting(const std::string& then) { return "echo ready; read -r go; " + then; }

  /// igloo where `preparation` has mounted something, in a mount namespace of its own.
  Outcome Behind(const std::string& preparation, const Invocation& invocation) const {
    std::string command = "exec";
    if (::geteuid() != 0) command += " setpriv --inh-caps=-all --ambient-caps=-all";
    command += " " + ShellQuote(invocation.program);
    for (const std::string& word : invocation.args) command += " " + ShellQuote(word);
    std::vector<std::string> args = {"--mount"};
    if (::geteuid() != 0) {
      args.insert(args.end(), {"--user", "--map-current-user", "--keep-caps"});
    }
    args.insert(args.end(), {"/bin/sh", "-c", "set -e; " + preparation + "; " + command});
    return RunProgram({.program = "/usr/bin/unshare", .args = args, .env = invocation.env});
  }
};

TEST_F(AgentProject, OnAReadOnlyFileSystemIsReadAndNothingElse) {
  const std::string mount = "mount --bind '" + project() + "' '" + project() +
                            "' && mount -o remount,bind,ro '" + project() + "'";
  const auto before = SnapshotOf(project());
  const Outcome outcome =
      Behind(mount, Script("cat file; echo new >made; git status --short; echo tried", {}));
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_EQ(outcome.out, "old\ntried\n");
  EXPECT_THAT(outcome.err, HasSubstr("Read-only file system"));
  EXPECT_EQ(SnapshotOf(project()), before);
  // A copy can be written to all the same, and is applied where that is possible.
  const Outcome copy =
      Behind(mount, Script("echo new >made; cat made", {"--propose", "--name", "x"}));
  EXPECT_EQ(copy.out, "new\n") << copy.err;
  const Invocation apply{
      .program = BinDirectory() + "/igloo", .args = {"apply", "x"}, .env = Variables()};
  const Outcome refused = Behind(mount, apply);
  EXPECT_NE(refused.status, 0);
  EXPECT_THAT(refused.err, HasSubstr("Read-only file system"));
  EXPECT_EQ(SnapshotOf(project()), before);
  EXPECT_EQ(RunProgram(apply).out, "applied made\n");
}

TEST_F(AgentProject, ThatIsMovedMeanwhileIsWorkedOnAndLookedAtWhereItIs) {
  Running box(
      Script(Waiting("pwd; echo new >made && git add made && git commit -qm inside; "
                     "git init -q sub; git -C sub config core.fsmonitor /evil; cat file")));
  ASSERT_TRUE(box.WaitForOutput("ready"));
  const std::string moved = Path("home/code/moved");
  fs::rename(project(), moved);
  box.Write("go\n");
  const Outcome outcome = box.Finish();
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_EQ(outcome.out, "ready\n" + project() + "\nold\n");
  EXPECT_EQ(Git({"log", "-1", "--format=%s"}, moved).out, "inside\n");
  EXPECT_THAT(outcome.err, AllOf(HasSubstr("sub/.git/config"), HasSubstr("core.fsmonitor")));
  EXPECT_THAT(Read("home/code/moved/sub/.git/config"), Not(HasSubstr("fsmonitor")));
  EXPECT_FALSE(fs::exists(project()));
}

TEST_F(AgentProject, WhoseCopyIsAppliedIsPutBackFirst) {
  Running box(
      Script(Waiting("echo new >made; echo more >>file; cat file"), {"--propose", "--name", "x"}));
  ASSERT_TRUE(box.WaitForOutput("ready"));
  const std::string moved = Path("home/code/moved");
  const auto before = SnapshotOf(project());
  fs::rename(project(), moved);
  // Another project in its place is none of its business.
  fs::create_directory(project());
  box.Write("go\n");
  const Outcome outcome = box.Finish();
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_EQ(outcome.out, "ready\nold\nmore\n");
  const Invocation apply{
      .program = BinDirectory() + "/igloo", .args = {"apply", "x"}, .env = Variables()};
  const Outcome refused = RunProgram(apply);
  EXPECT_EQ(refused.status, 125);
  EXPECT_THAT(refused.err, AllOf(HasSubstr("no longer at"), HasSubstr("put it back")));
  EXPECT_TRUE(fs::is_empty(project()));
  EXPECT_EQ(SnapshotOf(moved), before);
  fs::remove(project());
  fs::rename(moved, project());
  EXPECT_EQ(RunProgram(apply).out, "applied file\napplied made\n");
  EXPECT_EQ(Read("home/code/project/file"), "old\nmore\n");
}

TEST_F(AgentProject, WhatABoxLeftForGitIsTakenAwayByTheNextOneIfIglooIsKilled) {
  Running box(Script("git init -q sub; git -C sub config core.fsmonitor /evil; echo ready; cat"));
  ASSERT_TRUE(box.WaitForOutput("ready"));
  box.Signal(SIGKILL);
  box.Finish();
  ASSERT_THAT(Read("home/code/project/sub/.git/config"), HasSubstr("fsmonitor"));
  const Outcome next = InBox("true");
  EXPECT_THAT(next.err, AllOf(HasSubstr("sub/.git/config"), HasSubstr("igloo took that away")));
  EXPECT_THAT(Read("home/code/project/sub/.git/config"), Not(HasSubstr("fsmonitor")));
  EXPECT_THAT(InBox("true").err, Not(HasSubstr("sub/.git")));
}

/// Decision 25: the kernel takes the cover away, and igloo says so.
TEST_F(AgentProject, AHiddenFileThatTheHostReplacesIsTold) {
  Write("home/code/project/.env", "secret-one");
  Running box(Script(Waiting("cat .env; echo; echo done")));
  ASSERT_TRUE(box.WaitForOutput("ready"));
  Write("home/code/project/.env", "secret-two");  // in place: it stays hidden
  Write("home/code/project/fresh", "secret-three");
  fs::rename(project() + "/fresh", project() + "/.env");
  EXPECT_TRUE(box.WaitForErrors(".env' now")) << box.errors();
  box.Write("go\n");
  const Outcome outcome = box.Finish();
  EXPECT_THAT(outcome.out, HasSubstr("secret-three")) << "nobody can cover it again";
  EXPECT_THAT(outcome.err, HasSubstr("hidden files were replaced"));
}

TEST_F(AgentProject, AtATerminalTheTitleSaysSo) {
  Write("home/code/project/.env", "secret-one");
  Terminal terminal = AtTerminal(Script(Waiting("echo done")));
  ASSERT_TRUE(terminal.WaitForOutput("ready")) << terminal.output();
  Write("home/code/project/fresh", "secret-three");
  fs::rename(project() + "/fresh", project() + "/.env");
  EXPECT_TRUE(terminal.WaitForOutput("\x1b]2;igloo: the box can read")) << terminal.output();
  terminal.Type("go\n");
  EXPECT_EQ(terminal.Finish(), 0) << terminal.output();
  EXPECT_THAT(terminal.output(), HasSubstr("hidden files were replaced"));
}

TEST_F(AgentProject, AHiddenFileThatIsWrittenInPlaceStaysHiddenAndNothingIsTold) {
  Write("home/code/project/.env", "secret-one");
  Running box(Script(Waiting("cat .env; echo done")));
  ASSERT_TRUE(box.WaitForOutput("ready"));
  Write("home/code/project/.env", "secret-two");
  box.Write("go\n");
  const Outcome outcome = box.Finish();
  EXPECT_THAT(outcome.out, AllOf(HasSubstr("done"), Not(HasSubstr("secret"))));
  EXPECT_THAT(outcome.err, Not(HasSubstr("hidden files were replaced")));
}

TEST_F(AgentProject, InACopyAHiddenFileStaysHiddenWhateverTheHostDoes) {
  Write("home/code/project/.env", "secret-one");
  Running box(Script(Waiting("cat .env; cat ./*; grep -r secret .; echo done"), {"--propose"}));
  ASSERT_TRUE(box.WaitForOutput("ready"));
  Write("home/code/project/fresh", "secret-two");
  fs::rename(project() + "/fresh", project() + "/.env");
  box.Write("go\n");
  const Outcome outcome = box.Finish();
  EXPECT_THAT(outcome.out, AllOf(HasSubstr("done"), Not(HasSubstr("secret"))));
  EXPECT_THAT(outcome.err, Not(HasSubstr("hidden files were replaced")));
}

/// The real agents are asked the same in tests/agents, as far as they can be had; here a program of
/// the agent's name stands in, with all that igloo itself does for that agent.
class LeavesNothing : public AgentProject, public ::testing::WithParamInterface<const char*> {};

TEST_P(LeavesNothing, OfItsOwnInTheProject) {
  const std::string agent = GetParam();
  const std::string program = agent == "--cmd" ? "my-agent" : agent;
  fs::create_directories(Path("home/.local/bin"));
  Write("home/.local/bin/" + program, "#!/bin/bash\nls -A >/dev/null; echo \"ran in $PWD\"\n");
  fs::permissions(Path("home/.local/bin/" + program), fs::perms(0755));
  Write("home/code/project/.env", "SECRET=1\n");
  fs::create_directories(project() + "/empty/directory");
  const auto before = SnapshotOf(project());
  for (const bool copy : {false, true}) {
    std::vector<std::string> words = {agent};
    if (agent == "--cmd") words.push_back(program);
    words.insert(words.end(), {"--yes", "--network", "none"});
    if (copy) words.insert(words.end(), {"--propose", "--name", "copy"});
    Invocation invocation = Agent(words);
    std::erase_if(invocation.env, [](const auto& each) { return each.starts_with("PATH="); });
    invocation.env.push_back("PATH=" + home() + "/.local/bin:/usr/bin:/bin");
    const Outcome outcome = RunProgram(invocation);
    EXPECT_EQ(outcome.status, 0) << outcome.err;
    EXPECT_EQ(outcome.out, "ran in " + project() + "\n") << outcome.err;
    EXPECT_EQ(SnapshotOf(project()), before) << (copy ? "a copy" : "itself");
  }
}

INSTANTIATE_TEST_SUITE_P(AllProfiles, LeavesNothing,
                         ::testing::Values("claude", "codex", "gemini", "opencode", "aider",
                                           "--cmd"),
                         [](const auto& each) {
                           return std::string(each.param).starts_with("--") ? "AnyProgram"
                                                                            : each.param;
                         });

}  // namespace
}  // namespace igloo::testing
