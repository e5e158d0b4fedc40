// What claudebox keeps in ~/.claudebox, and what of the user's it gives a box: C23 to C26, --gc,
// --with-ssh and --ssh-key.

#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>

#include "agent/state/projects.h"
#include "support/agent_box.h"
#include "support/grants.h"
#include "support/host.h"

namespace igloo::testing {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::MatchesRegex;
using ::testing::Not;
using ::testing::StartsWith;

/// claudebox in `directory`.
Invocation Claudebox(const std::string& directory, std::vector<std::string> words,
                     std::vector<std::string> env) {
  words.insert(words.begin(),
               {"-c", "cd \"$0\" && exec \"$@\"", directory, BinDirectory() + "/claudebox"});
  return {.program = "/bin/sh", .args = std::move(words), .env = std::move(env)};
}

class ClaudeboxState : public AgentBox {
 protected:
  Outcome Run(std::vector<std::string> words, const std::string& directory = {}) const {
    return RunProgram(
        Claudebox(directory.empty() ? project() : directory, std::move(words), Variables()));
  }
  Outcome Shell(const std::string& script, const std::string& directory = {}) const {
    return Run({"-y", "--shell", "--network", "none", "-c", script}, directory);
  }
  std::string Key(const std::string& root) const { return agent::ProjectKey(root); }
  void WriteBelow(const std::string& name, const std::string& text) const {
    fs::create_directories(fs::path(Path(name)).parent_path());
    Write(name, text);
  }
};

TEST_F(ClaudeboxState, KeepsConversationsForEachProjectInItsOwnDirectory) {
  WriteBelow("home/.claude/projects/-other/secret.jsonl", "canary");
  const Outcome first = Shell("ls ~/.claude/projects; echo a > ~/.claude/projects/a.jsonl");
  ASSERT_EQ(first.status, 0) << first.err;
  EXPECT_EQ(first.out, "project-root\n");
  const std::string directory = "home/.claudebox/projects/" + Key(project());
  EXPECT_EQ(Read(directory + "/project-root"), project() + "\n");
  EXPECT_EQ(Read(directory + "/a.jsonl"), "a\n");
  EXPECT_EQ(Shell("cat ~/.claude/projects/a.jsonl").out, "a\n");
  EXPECT_FALSE(fs::exists(Path("home/.claude/projects/a.jsonl")));
}

TEST_F(ClaudeboxState, WorkTreesOfARepositoryShareThem) {
  Git({"worktree", "add", "-q", Path("home/code/linked")});
  ASSERT_EQ(Shell("echo a > ~/.claude/projects/a.jsonl").status, 0);
  const Outcome linked = Shell("cat ~/.claude/projects/a.jsonl", Path("home/code/linked"));
  EXPECT_EQ(linked.out, "a\n") << linked.err;
}

TEST_F(ClaudeboxState, AProjectsFilesLieInItsRoot) {
  WriteBelow("home/code/project/.claudebox.env", "OF_ROOT=1\n");
  WriteBelow("home/code/project/sub/file", "");
  const Outcome untrusted = Shell("echo ${OF_ROOT:-none}", project() + "/sub");
  EXPECT_EQ(untrusted.out, "none\n");
  EXPECT_THAT(untrusted.err,
              AllOf(HasSubstr("; look at it, then: igloo trust "), HasSubstr(project())));
  const Outcome trust = RunProgram(
      {.program = BinDirectory() + "/igloo", .args = {"trust", project()}, .env = Variables()});
  ASSERT_EQ(trust.status, 0) << trust.err;
  EXPECT_EQ(Shell("echo ${OF_ROOT:-none}", project() + "/sub").out, "1\n");
}

TEST_F(ClaudeboxState, HasAHistoryAndASignInOfItsOwn) {
  WriteBelow("home/.claude/history.jsonl", "{\"of\": \"the host\"}\n");
  WriteBelow("home/.claude/.credentials.json", R"({"token": "of the host"})");
  WriteBelow("home/.claudebox/history.jsonl", "{\"of\": \"claudebox\"}\n");
  EXPECT_EQ(Shell("cat ~/.claude/.credentials.json").out, R"({"token": "of the host"})");
  WriteBelow("home/.claudebox/.credentials.json", R"({"token": "old"})");
  // As Claude Code renews it.
  const Outcome outcome = Shell(
      "cat ~/.claude/history.jsonl; echo '{\"of\": \"the box\"}' >> ~/.claude/history.jsonl; "
      "cat ~/.claude/.credentials.json; echo '{\"token\": \"new\"}' > ~/new && "
      "mv ~/new ~/.claude/.credentials.json");
  EXPECT_EQ(outcome.out, "{\"of\": \"claudebox\"}\n{\"token\": \"old\"}") << outcome.err;
  EXPECT_THAT(Read("home/.claudebox/.credentials.json"), HasSubstr("new"));
  EXPECT_THAT(Read("home/.claudebox/history.jsonl"), HasSubstr("the box"));
  EXPECT_EQ(Read("home/.claude/history.jsonl"), "{\"of\": \"the host\"}\n");
  EXPECT_EQ(Read("home/.claude/.credentials.json"), R"({"token": "of the host"})");
}

TEST_F(ClaudeboxState, MakesNothingInTheProjectOrBelowDotClaude) {
  fs::create_directories(Path("home/.claude"));
  const auto before = SnapshotOf(project());
  const auto claude = SnapshotOf(Path("home/.claude"));
  EXPECT_EQ(Shell("true").status, 0);
  EXPECT_EQ(Run({"--dry-run", "--shell"}).status, 0);
  EXPECT_EQ(SnapshotOf(project()), before);
  EXPECT_EQ(SnapshotOf(Path("home/.claude")), claude);
}

TEST_F(ClaudeboxState, WritesTheNoticeAtEveryStart) {
  const Outcome outcome = Shell("cat ~/.claude/SANDBOX.md; ls ~/.claude/CLAUDE.md");
  EXPECT_EQ(outcome.out, Read("home/.claudebox/SANDBOX.md")) << outcome.err;
  EXPECT_THAT(outcome.out,
              AllOf(HasSubstr("# Sandbox Environment"), HasSubstr("# Installing Tools"),
                    HasSubstr("nix shell nixpkgs#"), HasSubstr("# Default Restrictions"),
                    HasSubstr("# Git"), HasSubstr("SSH keys (`~/.ssh`)"), HasSubstr(project())));
  EXPECT_FALSE(fs::exists(Path("home/.claude")));
  WriteBelow("home/.ssh/key", "PRIVATE KEY");
  const Outcome ssh = Run({"-y", "--ssh-key", Path("home/.ssh/key"), "--shell", "--network", "none",
                           "-c", "cat ~/.claude/SANDBOX.md"});
  EXPECT_THAT(ssh.out, AllOf(HasSubstr("SSH is on"), Not(HasSubstr("SSH keys (`~/.ssh`)"))));
}

TEST_F(ClaudeboxState, WhatTheHostWouldRunLaterIsOnlyProposed) {
  WriteBelow("home/.claude/settings.json", R"({"theme": "dark"})");
  const Outcome outcome =
      Shell("echo '{\"theme\": \"light\", \"hooks\": {\"Stop\": []}}' > ~/.claude/settings.json");
  EXPECT_EQ(outcome.status, 0);
  EXPECT_THAT(outcome.err, HasSubstr("igloo agent proposals"));
  EXPECT_THAT(Read("home/.claude/settings.json"),
              AllOf(HasSubstr("light"), Not(HasSubstr("hooks"))));
}

TEST_F(ClaudeboxState, GcRemovesWhatIsKeptOfProjectsThatAreGone) {
  EXPECT_EQ(Run({"--gc"}).out, "GC complete: 0 instance(s) removed.\n") << "without a directory";
  fs::create_directories(Path("home/code/gone"));
  ASSERT_EQ(Shell("true").status, 0);
  ASSERT_EQ(Shell("true", Path("home/code/gone")).status, 0);
  fs::remove_all(Path("home/code/gone"));
  const Outcome outcome = Run({"--gc"});
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  const std::string projects = home() + "/.claudebox/projects/";
  EXPECT_EQ(outcome.out, "Removed: " + projects + Key(Path("home/code/gone")) +
                             " (project root gone: " + Path("home/code/gone") +
                             ")\nGC complete: 1 instance(s) removed.\n");
  EXPECT_TRUE(fs::exists(projects + Key(project())));
  EXPECT_FALSE(fs::exists(projects + Key(Path("home/code/gone"))));
}

TEST_F(ClaudeboxState, GcKeepsWhatABoxUsesWhoseProjectWasMoved) {
  fs::create_directories(Path("home/code/moved"));
  Running box(Claudebox(Path("home/code/moved"),
                        {"-y", "--shell", "--network", "none", "-c", "echo begun; read line"},
                        Variables()));
  ASSERT_TRUE(box.WaitForOutput("begun")) << box.errors();
  fs::rename(Path("home/code/moved"), Path("home/code/elsewhere"));
  EXPECT_EQ(Run({"--gc"}).out, "GC complete: 0 instance(s) removed.\n");
  box.Write("\n");
  EXPECT_EQ(box.Finish().status, 0);
  EXPECT_THAT(Run({"--gc"}).out, HasSubstr("GC complete: 1 instance(s) removed.\n"));
}

TEST_F(ClaudeboxState, SshIsOnlyThereWhenItIsAskedFor) {
  const Outcome none = Run({"-y", "--with-ssh", "--shell", "--network", "none", "-c",
                            "echo started ${SSH_AUTH_SOCK-none}"});
  EXPECT_EQ(none.out, "started none\n");
  EXPECT_THAT(none.err, HasSubstr("warning: --with-ssh: no ssh-agent runs"));
  const Outcome missing = Run({"-y", "--ssh-key", "/no/such key", "--shell", "-c", "true"});
  EXPECT_EQ(missing.status, 1);
  EXPECT_THAT(missing.err,
              HasSubstr("--ssh-key path does not exist or is not readable: /no/such key"));
  WriteBelow("home/.ssh/one", "of one\n");
  WriteBelow("home/.ssh/one.pub", "public\n");
  WriteBelow("home/.ssh/two", "of two\n");
  WriteBelow("home/.ssh/known_hosts", "known\n");
  const Outcome one = Run({"-y", "--ssh-key", Path("home/.ssh/one"), "--shell", "--network", "none",
                           "-c", "cd ~/.ssh && cat one one.pub known_hosts two; echo x > one"});
  EXPECT_EQ(one.out, "of one\npublic\nknown\n") << one.err;
  EXPECT_NE(one.status, 0);
}

TEST_F(ClaudeboxState, ADirectoryOfTheHomeThatIsMissingIsAWarning) {
  const Outcome outcome = Run(
      {"-y", "--mount-home", "none/here", "--shell", "--network", "none", "-c", "echo started"});
  EXPECT_EQ(outcome.out, "started\n") << outcome.err;
  EXPECT_THAT(outcome.err, HasSubstr("warning: --mount-home: there is no '~/none/here'"));
}

TEST_F(ClaudeboxState, TheAuditHasTheSectionsOfTheOriginal) {
  WriteBelow("home/.claudebox/config", "path_add = /opt/x\n");
  WriteBelow("home/.claudebox/env", "FROM_FILE=1\n");
  std::vector<std::string> env = Variables();
  env.emplace_back("ANTHROPIC_API_KEY=sk-ant-0123456789");
  const Outcome outcome = RunProgram(Claudebox(project(), {"--shell", "--network", "none"}, env));
  EXPECT_EQ(outcome.status, 1);
  EXPECT_THAT(outcome.err,
              AllOf(HasSubstr("\nHost (allowlisted)\n"), HasSubstr("\nMounts\n"),
                    HasSubstr("\n[config]\n  [+] FROM_FILE=1\n  path_add = /opt/x (")));
  const std::size_t host = outcome.err.find("Host (allowlisted)");
  const std::size_t key = outcome.err.find("ANTHROPIC_API_KEY=sk-ant-...6789");
  ASSERT_NE(key, std::string::npos) << outcome.err;
  EXPECT_GT(key, host);
  EXPECT_LT(key, outcome.err.find("[config]"));
}

TEST_F(ClaudeboxState, ShowsFilesWithSecretsAndSaysSoOnce) {
  WriteBelow("home/code/project/.env", "PASSWORD=x\n");
  const Outcome first = Shell("cat .env");
  EXPECT_EQ(first.out, "PASSWORD=x\n") << first.err;
  EXPECT_THAT(first.err, HasSubstr("looks like secrets in this project: .env;"));
  EXPECT_THAT(Shell("cat .env").err, Not(HasSubstr("looks like secrets")));
}

class ClaudeboxGrants : public WithGrants {};

TEST_F(ClaudeboxGrants, TheSshAgentSigns) {
  StartSshAgent({"one"});
  const Outcome outcome = RunProgram(
      Claudebox(Path("p"),
                {"-y", "--with-ssh", "--shell", "--network", "none", "-c",
                 "ssh-add -l && echo text > x && ssh-keygen -q -Y sign -f one.pub -n file x"},
                {"PATH=/usr/bin:/bin", "HOME=" + Path(""), SshVariable()}));
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr(Fingerprint("one") + " one"));
}

}  // namespace
}  // namespace igloo::testing
