// claude-sandbox's options, files and variables, through igloo under that name.

#include <gmock/gmock.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "agent/claude_sandbox/state_directory.h"
#include "agent/state/projects.h"
#include "support/agent_box.h"
#include "support/host.h"

namespace igloo::testing {
namespace {

namespace fs = std::filesystem;
namespace sandboxes = agent::claude_sandbox;
using ::testing::AllOf;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

class ClaudeSandbox : public AgentBox {
 protected:
  /// `claude-sandbox WORDS...`, or another of the launchers.
  Invocation Words(std::vector<std::string> words, std::vector<std::string> more = {},
                   const std::string& launcher = "claude-sandbox") const {
    std::vector<std::string> env = Variables();
    env.insert(env.end(), more.begin(), more.end());
    return {.program = BinDirectory() + "/" + launcher, .args = std::move(words), .env = env};
  }
  /// A shell's script in the sandbox of the project.
  Invocation Script(const std::string& script, std::vector<std::string> options = {},
                    std::vector<std::string> more = {}) const {
    options.insert(options.end(), {"--no-network", "--shell", project(), "-c", script});
    return Words(std::move(options), std::move(more));
  }
  Outcome Shell(const std::string& script, std::vector<std::string> options = {},
                std::vector<std::string> more = {}) const {
    return RunProgram(Script(script, std::move(options), std::move(more)));
  }
  std::string StateDirectory() const {
    return sandboxes::FindStateDirectory(home() + "/.local/state", project()).path;
  }
  /// Claude Code's directory for this project, on the host.
  std::string ConversationsOf(const std::string& project) const {
    return "home/.claude/projects/" + agent::ClaudeProjectName(project);
  }
  void WriteBelow(const std::string& name, const std::string& text) const {
    fs::create_directories(fs::path(Path(name)).parent_path());
    Write(name, text);
  }
  /// A sandbox that a person has at a terminal, until somebody types a line. The marker is on the
  /// command line of its program, and in /tmp/mark.
  Terminal Hold(const std::string& marker, std::vector<std::string> options = {}) const {
    return AtTerminal(Script(
        "echo " + marker + " > /tmp/mark; echo be''gun " + marker + "; read line; echo read $line",
        std::move(options)));
  }
};

TEST_F(ClaudeSandbox, HasTheProjectAtItsRealPathAndNothingElseOfTheHome) {
  Write("home/code/other/file", "canary");
  const Outcome outcome = Shell("pwd; cat file; echo new > made; cat ../other/file; exit 3");
  EXPECT_EQ(outcome.status, 3) << outcome.err;
  EXPECT_EQ(outcome.out, project() + "\nold\n");
  EXPECT_TRUE(fs::exists(Path("home/code/project/made")));
  EXPECT_THAT(outcome.err, Not(HasSubstr("canary")));
}

TEST_F(ClaudeSandbox, StartsWhereOneIsUnlessADirectoryIsNamed) {
  Invocation invocation =
      Words({"-c", "cd \"$0\" && exec \"$@\"", project(), BinDirectory() + "/claude-sandbox",
             "--no-network", "--shell", "--", "-c", "pwd"});
  invocation.program = "/bin/sh";
  const Outcome outcome = RunProgram(invocation);
  EXPECT_EQ(outcome.out, project() + "\n") << outcome.err;
}

TEST_F(ClaudeSandbox, ErrorsAreThoseOfTheOriginal) {
  const Outcome option = RunProgram(Words({"--verbose", project()}));
  EXPECT_EQ(option.status, 1);
  EXPECT_THAT(option.err,
              AllOf(StartsWith("Unknown option: --verbose\n"), HasSubstr("Usage: claude-sandbox")));
  EXPECT_THAT(option.out, IsEmpty());
  for (const std::string& name : {project() + "/file", project() + "/missing"}) {
    const Outcome outcome = RunProgram(Words({"--shell", name}));
    EXPECT_EQ(outcome.status, 1);
    EXPECT_EQ(outcome.err, "Error: " + name + " is not a directory\n");
  }
  const Outcome itself = RunProgram(Words({"--shell", home()}));
  EXPECT_EQ(itself.status, 1);
  EXPECT_THAT(itself.err, StartsWith("Error: ")) << "a home directory is no project";
}

TEST_F(ClaudeSandbox, SaysWhatIsMissing) {
  const Outcome outcome = RunProgram(Words({"--no-network", project()}));
  EXPECT_EQ(outcome.status, 1);
  EXPECT_THAT(outcome.err, AllOf(HasSubstr("'claude' is not on PATH"), HasSubstr("npm install")));
  for (const char* option : {"--enter", "--stop"}) {
    const Outcome none = RunProgram(Words({option, project()}));
    EXPECT_EQ(none.status, 1);
    EXPECT_THAT(none.err, StartsWith("Error: no sandbox of " + project() + " runs\n"));
  }
}

TEST_F(ClaudeSandbox, SaysThatItHasNoTmuxYet) {
  const Outcome outcome = RunProgram(Words({"--tmux", project()}));
  EXPECT_EQ(outcome.status, 1);
  EXPECT_THAT(outcome.err, AllOf(StartsWith("Error: --tmux is not available yet\n"),
                                 HasSubstr("tmux new-session claude-sandbox")));
}

TEST_F(ClaudeSandbox, PrintsItsUsage) {
  for (const char* option : {"--help", "-h"}) {
    const Outcome outcome = RunProgram(Words({option}));
    EXPECT_EQ(outcome.status, 0);
    EXPECT_THAT(outcome.out, StartsWith("Usage: claude-sandbox [--shell] [--gh-token]"));
  }
}

TEST_F(ClaudeSandbox, TheOtherLaunchersNameTheWallThatIsMissing) {
  for (const char* launcher : {"claude-sandbox-container", "claude-sandbox-vm"}) {
    const wall::Wall* wall = wall::FindByLauncher(launcher);
    ASSERT_FALSE(wall->served && wall->can.listeners)
        << "this test is to be replaced by those of its sandboxes";
    const Outcome outcome = RunProgram(Words({"--shell", project()}, {}, launcher));
    EXPECT_EQ(outcome.status, 1);
    EXPECT_THAT(outcome.err, AllOf(StartsWith("Error: " + std::string(launcher) + " needs"),
                                   HasSubstr(wall->description)));
    EXPECT_THAT(RunProgram(Words({"--help"}, {}, launcher)).out, HasSubstr(launcher));
  }
}

TEST_F(ClaudeSandbox, TellsProgramsWhereTheyAre) {
  const Outcome outcome = Shell(
      "echo $CLAUDE_SANDBOX $CLAUDE_SANDBOX_BACKEND $CLAUDE_SANDBOX_STATE_DIR; "
      "cat $CLAUDE_SANDBOX_STATE_DIR/path; touch $CLAUDE_SANDBOX_STATE_DIR/x; "
      "grep -c claude-sandbox /run/igloo/SANDBOX.md");
  EXPECT_THAT(outcome.out, StartsWith("1 bubblewrap " + StateDirectory() + "\n" + project() + "\n"))
      << outcome.err;
  EXPECT_THAT(outcome.err, HasSubstr("Read-only file system"));
  EXPECT_EQ(Read("home/.local/state/claude-code-nix-sandbox/projects/" +
                 sandboxes::KeyOf(project()) + "/path"),
            project() + "\n");
}

TEST_F(ClaudeSandbox, KeepsLocalDirectoriesAndTmpForEachProject) {
  const Outcome first = Shell(
      "echo 'echo tool' > ~/.local/bin/tool && chmod 755 ~/.local/bin/tool && "
      "echo kept > /tmp/kept && echo kept > ~/.local/share/kept && echo gone > ~/gone");
  ASSERT_EQ(first.status, 0) << first.err;
  EXPECT_EQ(Shell("tool; cat /tmp/kept ~/.local/share/kept; ls ~/gone").out, "tool\nkept\nkept\n");
  fs::create_directories(Path("home/code/second"));
  const Outcome other = RunProgram(Words({"--no-network", "--shell", Path("home/code/second"), "-c",
                                          "ls /tmp/kept ~/.local/share/kept; echo $?"}));
  EXPECT_EQ(other.out, "2\n") << "another project has its own";
  EXPECT_FALSE(fs::exists(Path("home/.local/bin"))) << "nothing of it is the user's own";
}

TEST_F(ClaudeSandbox, HasTheEnvironmentOfNobody) {
  const Outcome outcome = Shell("env; ls /proc | grep -c '^[0-9]'", {},
                                {"SECRET_OF_HOST=canary", "DBUS_SESSION_BUS_ADDRESS=canary",
                                 "LANG=C.UTF-8", "AWS_PROFILE=canary"});
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_THAT(outcome.out, AllOf(HasSubstr("LANG=C.UTF-8\n"), Not(HasSubstr("canary"))));
}

TEST_F(ClaudeSandbox, SeesNoProcessOfTheHost) {
  const Outcome outcome = Shell(
      "ls /proc | grep '^[0-9]' | sort -n | tail -1; "
      "readlink /proc/self/ns/ipc /proc/self/ns/uts /proc/self/ns/pid");
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_LT(std::stoi(outcome.out), 100);
  for (const char* name : {"ipc", "uts", "pid"}) {
    const std::string own = fs::read_symlink("/proc/self/ns/" + std::string(name)).string();
    EXPECT_THAT(outcome.out, AllOf(HasSubstr(name), Not(HasSubstr(own))));
  }
}

TEST_F(ClaudeSandbox, NothingCanBeTypedOnTheTerminalOfWhoeverStartedIt) {
  Terminal sandbox =
      AtTerminal(Script("python3 -c 'import errno, fcntl, termios\n"
                        "print(\"size\", len(fcntl.ioctl(0, termios.TIOCGWINSZ, b\"x\" * 8)))\n"
                        "try:\n"
                        "  fcntl.ioctl(0, termios.TIOCSTI, b\"x\"); print(\"typed\")\n"
                        "except OSError as e: print(\"refused\", errno.errorcode[e.errno])'"));
  EXPECT_EQ(sandbox.Finish(), 0) << sandbox.output();
  EXPECT_THAT(sandbox.output(), HasSubstr("size 8\r\n")) << "control: other requests work";
  EXPECT_THAT(sandbox.output(), HasSubstr("refused EPERM\r\n"));
}

TEST_F(ClaudeSandbox, ChangesOfBothSidesToClaudesOwnFileAreKept) {
  WriteBelow("home/.claude.json", R"({"numStartups": 1, "theme": "dark"})");
  // As Claude Code does it, on both sides: a new file takes the name.
  Terminal sandbox =
      AtTerminal(Script("sed 's/\"numStartups\": 1/\"numStartups\": 2/' ~/.claude.json > ~/new && "
                        "mv ~/new ~/.claude.json && echo chan''ged; read line"));
  ASSERT_TRUE(sandbox.WaitForOutput("changed")) << sandbox.output();
  WriteBelow("home/new.json", R"({"numStartups": 1, "theme": "light"})");
  fs::rename(Path("home/new.json"), Path("home/.claude.json"));
  sandbox.Type("\r");
  ASSERT_EQ(sandbox.Finish(), 0) << sandbox.output();
  EXPECT_EQ(Read("home/.claude.json"), R"({"numStartups": 2, "theme": "light"})");
}

TEST_F(ClaudeSandbox, HasThisProjectsConversationsAndNoOthers) {
  WriteBelow(ConversationsOf(project()) + "/old.jsonl", "old");
  WriteBelow(ConversationsOf("/elsewhere") + "/secret.jsonl", "canary");
  const Outcome outcome = Shell(
      "ls ~/.claude/projects; cat ~/.claude/projects/*/*; "
      "echo new > ~/.claude/projects/" +
      agent::ClaudeProjectName(project()) + "/new.jsonl");
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_EQ(outcome.out, agent::ClaudeProjectName(project()) + "\nold");
  EXPECT_EQ(Read(ConversationsOf(project()) + "/new.jsonl"), "new\n");
}

TEST_F(ClaudeSandbox, NewConversationsBecomeTheUsersWhenItEnds) {
  const std::string name = agent::ClaudeProjectName(project());
  EXPECT_EQ(Shell("true").status, 0);
  EXPECT_FALSE(fs::exists(Path("home/.claude"))) << "nothing is made for nothing";
  const Outcome outcome = Shell("echo hi > ~/.claude/projects/" + name + "/a.jsonl");
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_EQ(Read(ConversationsOf(project()) + "/a.jsonl"), "hi\n");
  EXPECT_EQ(Shell("cat ~/.claude/projects/" + name + "/a.jsonl").out, "hi\n");
}

TEST_F(ClaudeSandbox, OneLineSaysWhatItHasOfTheUsersAndMinimalLeavesItOut) {
  Write("home/.ssh/config", "Host x\n");
  const Outcome usual = Shell("cat ~/.gitconfig ~/.ssh/config");
  EXPECT_EQ(usual.out, Read("home/.gitconfig") + "Host x\n") << usual.err;
  EXPECT_THAT(usual.err, StartsWith("claude-sandbox: the sandbox has your project, git settings, "
                                    "~/.ssh (not here: gh settings, ssh-agent, X11, "));
  EXPECT_THAT(usual.err, HasSubstr("--minimal leaves all but the project out\n"));
  const Outcome minimal = Shell("cat ~/.ssh/config; git config --global user.name", {"--minimal"},
                                {"ANTHROPIC_API_KEY=sk-of-the-user"});
  EXPECT_EQ(minimal.out, "Ann\n");
  EXPECT_THAT(minimal.err,
              StartsWith("claude-sandbox: the sandbox has your project, ANTHROPIC_API_KEY\n"));
}

TEST_F(ClaudeSandbox, SaysThatItSharesNoNetworkAnyMore) {
  const Outcome outcome = RunProgram(Words({"--dry-run", "--shell", project()}));
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  Invocation invocation = Script("true");
  std::erase(invocation.args, "--no-network");
  const Outcome started = RunProgram(invocation);
  EXPECT_THAT(started.err, AllOf(HasSubstr("nothing of this machine"), HasSubstr("--reach PORT")));
  EXPECT_THAT(Shell("true").err, Not(HasSubstr("--reach PORT")));
}

TEST_F(ClaudeSandbox, PassesTheTokenForGitHubOnlyWhenAsked) {
  EXPECT_EQ(Shell("echo [$GH_TOKEN$GITHUB_TOKEN]").out, "[]\n");
  const Outcome outcome = Shell("echo $GH_TOKEN $GITHUB_TOKEN", {"--gh-token"});
  EXPECT_EQ(outcome.out, "canary-of-a-token canary-of-a-token\n");
  EXPECT_THAT(outcome.err, HasSubstr("GitHub token"));
}

TEST_F(ClaudeSandbox, ShowsFilesWithSecretsAndSaysSoOnce) {
  WriteBelow("home/code/project/.env", "PASSWORD=x\n");
  const Outcome first = Shell("cat .env");
  EXPECT_EQ(first.out, "PASSWORD=x\n") << first.err;
  EXPECT_THAT(first.err, HasSubstr("looks like secrets in this project: .env;"));
  EXPECT_THAT(Shell("cat .env").err, Not(HasSubstr("looks like secrets")));
  WriteBelow("home/code/project/.env.local", "PASSWORD=y\n");
  EXPECT_THAT(Shell("true").err, HasSubstr(".env, .env.local"));
}

TEST_F(ClaudeSandbox, LeavesNothingInTheProject) {
  const auto before = SnapshotOf(project());
  EXPECT_EQ(Shell("true").status, 0);
  EXPECT_EQ(RunProgram(Words({"--dry-run", "--shell", project()})).status, 0);
  EXPECT_EQ(SnapshotOf(project()), before);
}

TEST_F(ClaudeSandbox, ADryRunMakesNothing) {
  const Outcome outcome = RunProgram(Words({"--dry-run", "--no-network", "--shell", project()}));
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr(project()));
  EXPECT_FALSE(fs::exists(Path("home/.local/state/claude-code-nix-sandbox")));
  EXPECT_FALSE(fs::exists(Path("home/.claude")));
}

TEST_F(ClaudeSandbox, AProjectBelowTmpIsInItsOwnTmp) {
  const Outcome outcome = Shell("echo x > /tmp/here && ls -d /tmp/here $PWD ~");
  EXPECT_EQ(outcome.out, "/tmp/here\n" + project() + "\n" + home() + "\n") << outcome.err;
}

TEST_F(ClaudeSandbox, ASecondStartJoinsTheFirst) {
  const std::string marker = UniqueMarker();
  Terminal first = Hold(marker);
  ASSERT_TRUE(first.WaitForOutput("begun " + marker)) << first.output();
  Terminal second = AtTerminal(
      Script("cat /proc/[0-9]*/cmdline | tr '\\0' '\\n' | grep -cf /tmp/mark | sed s/^/see''n:/; "
             "pwd; exit 4"));
  EXPECT_EQ(second.Finish(), 4) << second.output();
  EXPECT_THAT(second.output(), AllOf(HasSubstr("joining the sandbox"), Not(HasSubstr("seen:0")),
                                     HasSubstr("seen:"), HasSubstr(project())));
  Terminal entered = AtTerminal(Words({"--enter", project()}));
  entered.Type("echo in''side $CLAUDE_SANDBOX; exit\r");
  EXPECT_EQ(entered.Finish(), 0);
  EXPECT_THAT(entered.output(), HasSubstr("inside 1"));
  first.Type("word\r");
  EXPECT_EQ(first.Finish(), 0);
  EXPECT_THAT(first.output(), HasSubstr("read word"));
}

TEST_F(ClaudeSandbox, AnotherOneCanBeHadAndAllAreStopped) {
  const std::string marker = UniqueMarker(), other = UniqueMarker();
  Terminal first = Hold(marker);
  ASSERT_TRUE(first.WaitForOutput("begun " + marker)) << first.output();
  Terminal second = Hold(other, {"--new"});
  ASSERT_TRUE(second.WaitForOutput("begun " + other)) << second.output();
  EXPECT_THAT(second.output(), Not(HasSubstr("joining")));
  const Outcome stopped = RunProgram(Words({"--stop", project()}));
  EXPECT_EQ(stopped.status, 0) << stopped.err;
  const std::string name = "sandbox-" + sandboxes::KeyOf(project());
  EXPECT_EQ(stopped.out, "sandbox '" + name + "' has ended\nsandbox '" + name + "-2' has ended\n");
  EXPECT_NE(first.Finish(), 0);
  EXPECT_NE(second.Finish(), 0);
}

TEST_F(ClaudeSandbox, WithoutATerminalItHasASandboxOfItsOwn) {
  const std::string marker = UniqueMarker();
  Terminal first = Hold(marker);
  ASSERT_TRUE(first.WaitForOutput("begun " + marker)) << first.output();
  EXPECT_EQ(Shell("echo own").out, "own\n");
}

}  // namespace
}  // namespace igloo::testing
