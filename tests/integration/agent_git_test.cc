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
