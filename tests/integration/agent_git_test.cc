// Git in a box: it works, and nothing that the user's own git runs later is the box's.

#include <gmock/gmock.h>

#include "support/agent_box.h"
#include "support/host.h"

namespace igloo::testing {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;

class AgentGit : public AgentBox {
 protected:
  /// What decides what the user's git runs.
  std::map<std::string, std::string> Deciding() const {
    auto found = SnapshotOf(project() + "/.git/hooks");
    found["config"] = Read("home/code/project/.git/config");
    found["commondir"] = fs::exists(project() + "/.git/commondir") ? "somewhere else" : "";
    return found;
  }
};

TEST_F(AgentGit, CommitsAsTheUserAndRunsNoneOfTheUsersHooks) {
  fs::create_directory(Path("home/hooks"));
  Write("home/hooks/post-commit", "#!/bin/sh\necho HOOK\n");
  fs::permissions(Path("home/hooks/post-commit"), fs::perms(0755));
  Git({"config", "--global", "core.hooksPath", Path("home/hooks")});
  const Outcome outcome = InBox("echo new >file && git commit -qam second && git log --format=%ae");
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_EQ(outcome.out, "ann@example.org\nann@example.org\n");
  EXPECT_EQ(Git({"log", "-1", "--format=%s %an"}).out, "second Ann\n");
  EXPECT_EQ(Git({"status", "--porcelain"}).out, "");
}

TEST_F(AgentGit, CommitsInALinkedWorkTree) {
  ASSERT_EQ(Git({"worktree", "add", "-q", Path("home/code/linked")}).status, 0);
  Invocation invocation = Script("echo more >more && git add more && git commit -qm linked");
  invocation.args[2] = Path("home/code/linked");
  const Outcome outcome = RunProgram(invocation);
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_EQ(Git({"log", "-1", "--format=%s"}, Path("home/code/linked")).out, "linked\n");
}

TEST_F(AgentGit, WorksOnACopyOfALinkedWorkTreeAndItsRepository) {
  const std::string linked = Path("home/code/linked");
  ASSERT_EQ(Git({"worktree", "add", "-q", "-b", "side", linked}).status, 0);
  const auto before = SnapshotOf(project() + "/.git");
  Invocation invocation = Script(
      "git status --short && echo more >more && git add more && git commit -qm inside && "
      "git log --format=%s",
      {"--propose", "--name", "copy"});
  invocation.args[2] = linked;
  const Outcome outcome = RunProgram(invocation);
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_EQ(outcome.out, "inside\nfirst\n");
  EXPECT_EQ(SnapshotOf(project() + "/.git"), before);
  EXPECT_FALSE(fs::exists(linked + "/more"));
  const Outcome apply = RunProgram(
      {.program = BinDirectory() + "/igloo", .args = {"apply", "copy"}, .env = Variables()});
  EXPECT_EQ(apply.status, 0) << apply.err;
  EXPECT_EQ(apply.out, "applied more\nbranch igloo/copy\n");
  EXPECT_EQ(Git({"log", "-1", "--format=%s %an", "igloo/copy"}).out, "inside Ann\n");
}

TEST_F(AgentGit, WorksInASubmodule) {
  const std::string origin = Path("origin");
  RunProgram({.program = "/usr/bin/git", .args = {"init", "-q", origin}, .env = Variables()});
  Git({"commit", "-q", "--allow-empty", "-m", "first"}, origin);
  ASSERT_EQ(Git({"-c", "protocol.file.allow=always", "submodule", "--quiet", "add", origin, "sub"})
                .status,
            0);
  for (const bool copy : {false, true}) {
    Invocation invocation = Script(
        "git commit -q --allow-empty -m inside && git log --format=%s && "
        "! git config core.pager evil",
        copy ? std::vector<std::string>{"--propose", "--name", "of-sub"}
             : std::vector<std::string>());
    if (copy)
      invocation.args.back() = "git commit -q --allow-empty -m copy; git log -1 --format=%s";
    invocation.args[2] = project() + "/sub";
    const Outcome outcome = RunProgram(invocation);
    EXPECT_EQ(outcome.status, 0) << outcome.err;
    EXPECT_EQ(outcome.out, copy ? "copy\n" : "inside\nfirst\n") << outcome.err;
  }
  EXPECT_EQ(Git({"log", "-1", "--format=%s"}, project() + "/sub").out, "inside\n");
}

/// A password in an address, as many have it.
TEST_F(AgentGit, CredentialsOfARepositoryElsewhereAreHidden) {
  const std::string linked = Path("home/code/linked"), secret = "hunter5";
  ASSERT_EQ(Git({"worktree", "add", "-q", linked}).status, 0);
  Git({"remote", "add", "origin", "https://ann:" + secret + "@example.org/x.git"});
  Write("home/code/project/.git/.env", secret);
  const std::string look =
      "cd \"$(git rev-parse --git-common-dir)\"; cat config .env; git remote get-url origin; "
      "grep -r " +
      secret + " .; echo looked";
  for (const bool copy : {false, true}) {
    Invocation invocation =
        Script(look, copy ? std::vector<std::string>{"--propose"} : std::vector<std::string>());
    invocation.args[2] = linked;
    const Outcome outcome = RunProgram(invocation);
    EXPECT_THAT(outcome.out, AllOf(HasSubstr("https://example.org/x.git"), HasSubstr("looked")));
    EXPECT_THAT(outcome.out, ::testing::Not(HasSubstr(secret))) << outcome.err;
  }
  // Control: it is there.
  EXPECT_THAT(Git({"remote", "get-url", "origin"}, linked).out, HasSubstr(secret));
}

/// Git inside does not see the directories of other work trees, and takes them for gone.
TEST_F(AgentGit, OtherWorkTreesAreNotPruned) {
  const std::string linked = Path("home/code/linked");
  ASSERT_EQ(Git({"worktree", "add", "-q", linked}).status, 0);
  InBox(
      "git worktree prune --expire=now; git gc -q --prune=now; git worktree remove --force linked");
  EXPECT_EQ(Git({"status", "--short"}, linked).status, 0);
  const Outcome gc = InBox("git gc -q");
  EXPECT_EQ(gc.status, 0) << gc.err;
  const Outcome bare = RunProgram(
      {.program = "/bin/bash",
       .args = {"-c", "mv '" + linked + "' '" + linked + "2' && git -C '" + project() +
                          "' worktree prune --expire=now && mv '" + linked + "2' '" + linked + "'"},
       .env = Variables()});
  EXPECT_NE(Git({"status", "--short"}, linked).status, 0) << "control: " << bare.err;
}

struct Attack {
  const char* name;
  const char* script;
};
constexpr Attack kAttacks[] = {
    {"WritesAHook", "printf '#!/bin/sh\\n' >.git/hooks/post-commit"},
    {"RenamesTheHooksAside", "mv .git/hooks .git/aside && mkdir .git/hooks && touch .git/hooks/x"},
    {"RemovesTheHooks", "rm -r .git/hooks && mkdir .git/hooks && touch .git/hooks/x"},
    {"WritesTheConfiguration", "git config core.fsmonitor /tmp/evil"},
    {"AppendsToTheConfiguration", "printf '[core]\\nfsmonitor = /tmp/evil\\n' >>.git/config"},
    {"RenamesTheConfigurationAside", "mv .git/config .git/aside && echo x >.git/config"},
    {"LinksToTheConfiguration", "ln .git/config other && echo x >>other"},
    {"RenamesTheRepositoryAside", "mv .git aside && mkdir -p .git/hooks && touch .git/config"},
    {"LeadsGitElsewhere", "git init -q --bare evil && echo ../evil >.git/commondir"},
};

class AgentGitAttack : public AgentGit, public ::testing::WithParamInterface<Attack> {};

TEST_P(AgentGitAttack, ChangesNothingThatTheUsersGitRuns) {
  fs::create_directory(project() + "/.git/hooks");
  const auto before = Deciding();
  InBox(GetParam().script);
  EXPECT_EQ(Deciding(), before);
  const std::string attack = std::string("cd '") + project() + "' && " + GetParam().script;
  RunProgram({.program = "/bin/bash", .args = {"-c", attack}, .env = Variables()});
  EXPECT_NE(Deciding(), before) << "control: without the wall this attack must win";
}

INSTANTIATE_TEST_SUITE_P(All, AgentGitAttack, ::testing::ValuesIn(kAttacks),
                         [](const auto& each) { return each.param.name; });

TEST_F(AgentGit, ARepositoryThatLeadsElsewhereIsRefused) {
  Write("home/code/project/.git/commondir", "../../../.ssh\n");
  const Outcome outcome = InBox("true");
  EXPECT_EQ(outcome.status, 125);
  EXPECT_THAT(outcome.err, HasSubstr("would lead git to another repository's configuration"));
}

TEST_F(AgentGit, AHostileGitFileIsRefused) {
  fs::create_directory(Path("home/code/hostile"));
  Write("home/code/hostile/.git", "gitdir: " + home() + "/.ssh\n");
  Invocation invocation = Script("true");
  invocation.args[2] = Path("home/code/hostile");
  const Outcome outcome = RunProgram(invocation);
  EXPECT_EQ(outcome.status, 125);
  EXPECT_THAT(outcome.err, AllOf(HasSubstr(".ssh"), HasSubstr("no repository that knows")));
}

}  // namespace
}  // namespace igloo::testing
