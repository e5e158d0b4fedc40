// What a box writes into a project so that the user's own git runs it, without a word, once the box
// has ended. The control of each attack is the same script without a box.

#include <gmock/gmock.h>

#include "support/agent_box.h"

namespace igloo::testing {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

struct Attack {
  const char* name;
  const char* before;  ///< what the user has, by the user's own shell
  const char* script;
  const char* project = ".";  ///< of the box, from the directory of the repository
};

/// In all: $EVIL is a program of the project that leaves a mark. `init` makes a nested repository
/// with a commit.
constexpr const char* kWords = R"(
init() { git init -q "$@" && git -C "${!#}" -c user.name=x -c user.email=x@y commit -q --allow-empty -m x; }
)";

constexpr Attack kAttacks[] = {
    {"AHookWhereThereIsNoDirectoryOfHooks", "rm -r .git/hooks",
     "mkdir .git/hooks; cp $EVIL .git/hooks/pre-commit"},
    {"ALinkWhereThereIsNoDirectoryOfHooks", "rm -r .git/hooks",
     "mkdir scripts; cp $EVIL scripts/pre-commit; ln -s ../scripts .git/hooks"},
    {"ANestedRepositoryInTheIndex", "true",
     "init sub; git -C sub config core.fsmonitor $EVIL; git add sub 2>/dev/null"},
    {"ANestedRepositoryThatSomebodyEnters", "true",
     "init sub; git -C sub config core.fsmonitor $EVIL"},
    {"AnAliasInANestedRepository", "true", "init sub; git -C sub config alias.x '!'$EVIL"},
    {"AHookInANestedRepository", "true",
     "init sub; mkdir -p sub/.git/hooks; cp $EVIL sub/.git/hooks/pre-commit"},
    {"ARepositoryWithoutADotGit", "true",
     "git init -q --bare sub; git -C sub config core.bare false; "
     "git -C sub config core.worktree .; git -C sub config core.fsmonitor $EVIL; :"},
    {"ARepositoryOfTheUsersInTheProject", "init sub", "git -C sub config core.fsmonitor $EVIL"},
    {"ASubmodulesConfiguration", "module", "git -C sub config core.fsmonitor $EVIL"},
    {"ASubmodulesConfigurationBehindARename", "module",
     "cp -r .git/modules .git/other; mv .git/modules .git/aside && mv .git/other .git/modules; "
     "git -C sub config core.fsmonitor $EVIL"},
    {"ASubmodulesHook", "module",
     "mkdir -p .git/modules/sub/hooks; cp $EVIL .git/modules/sub/hooks/pre-commit"},
    {"AnotherRepositoryInThePlaceOfASubmodules", "module",
     "rm sub/.git; init sub; git -C sub config core.fsmonitor $EVIL"},
    {"ASubmodulesRepositoryLedElsewhere", "module",
     "init evil; git -C evil config core.fsmonitor $EVIL; "
     "git -C evil config core.worktree ../../sub; "
     "echo ../../../evil/.git >.git/modules/sub/commondir"},
    {"TheConfigurationOfThisWorkTree", "git config extensions.worktreeConfig true",
     "git config --worktree core.fsmonitor $EVIL || "
     "printf '[core]\\nfsmonitor = %s\\n' $EVIL >.git/config.worktree"},
    {"TheConfigurationOfAnotherWorkTree",
     "git config extensions.worktreeConfig true; git worktree add -q ../linked",
     "printf '[core]\\nfsmonitor = %s\\n' $EVIL >.git/worktrees/linked/config.worktree"},
    {"AnotherWorkTreeLedElsewhere", "git worktree add -q ../linked",
     "init evil; git -C evil config core.fsmonitor $EVIL; "
     "echo ../../../evil/.git >.git/worktrees/linked/commondir"},
    {"ThisLinkedWorkTreeLedElsewhere", "git worktree add -q ../linked; cp $EVIL ../linked",
     "init evil; git -C evil config core.fsmonitor $EVIL; "
     "echo $PWD/evil/.git >$(git rev-parse --git-dir)/commondir",
     "../linked"},
    {"AFileThatTheConfigurationIncludes", "touch team; git config include.path ../team",
     "printf '[core]\\nfsmonitor = %s\\n' $EVIL >team"},
    {"AFileToIncludeThatIsNotThereYet", "git config include.path ../team",
     "printf '[core]\\nfsmonitor = %s\\n' $EVIL >team"},
    {"ARepositoryFromTheFixtures",
     "init sub; git -C sub config core.fsmonitor $EVIL; mv sub/.git sub/dot",
     "mv sub/dot sub/.git"},
};

class Obeyed : public AgentBox, public ::testing::WithParamInterface<Attack> {
 protected:
  Obeyed() {
    Write("home/code/project/evil.sh", "#!/bin/sh\ntouch '" + home() + "/ran'\n");
    fs::permissions(project() + "/evil.sh", fs::perms(0755));
    // A submodule, as a clone has it.
    Write("module.sh", std::string("git init -q '") + Path("origin") + "' && git -C '" +
                           Path("origin") +
                           "' commit -q --allow-empty -m x && git -c protocol.file.allow=always "
                           "submodule --quiet add '" +
                           Path("origin") + "' sub && git commit -qm sub\n");
  }

  /// By the user's own shell.
  Outcome Outside(const std::string& directory, const std::string& script) const {
    const std::string words = "cd '" + project() + "/" + directory + "' && EVIL='" + project() +
                              "/evil.sh'\nmodule() { . '" + Path("module.sh") + "'; }\n" + kWords +
                              script;
    return RunProgram({.program = "/bin/bash", .args = {"-c", words}, .env = Variables()});
  }
  Outcome Attacking(const Attack& attack) const {
    Invocation invocation =
        Script(std::string("EVIL='") + project() + "/evil.sh'\n" + kWords + attack.script);
    invocation.args[2] = fs::canonical(project() + "/" + attack.project).string();
    return RunProgram(invocation);
  }
  /// What a user does without a thought, wherever git is.
  void UseGit() const {
    Outside(".",
            "for each in . sub evil ../linked; do [ -d $each ] || continue; (cd $each; git status; "
            "git log -1; git diff; git stash list; git branch; git x; git add -u; "
            "git commit --allow-empty -qm more; git status --short); done");
  }
  bool Ran() const { return fs::exists(home() + "/ran"); }
};

TEST_P(Obeyed, RunsNothingOfTheBoxs) {
  ASSERT_EQ(Outside(".", GetParam().before).status, 0);
  const Outcome box = Attacking(GetParam());
  EXPECT_NE(box.status, 125) << box.err;
  EXPECT_FALSE(Ran());
  UseGit();
  EXPECT_FALSE(Ran()) << box.out << box.err;
}

TEST_P(Obeyed, RunsItWithoutABox) {
  ASSERT_EQ(Outside(".", GetParam().before).status, 0);
  Outside(GetParam().project, GetParam().script);
  fs::remove(home() + "/ran");
  UseGit();
  EXPECT_TRUE(Ran()) << "control: without the wall this attack must win";
}

INSTANTIATE_TEST_SUITE_P(All, Obeyed, ::testing::ValuesIn(kAttacks),
                         [](const auto& each) { return each.param.name; });

class ObeyedNames : public AgentBox, public ::testing::WithParamInterface<const char*> {};

TEST_P(ObeyedNames, AreReportedWithWhatObeysThem) {
  const std::string path = GetParam();
  const Outcome box = InBox("mkdir -p \"$(dirname '" + path + "')\" && echo '{}' >'" + path + "'");
  EXPECT_EQ(box.status, 0) << box.err;
  EXPECT_THAT(box.err, AllOf(HasSubstr("the box made '" + path + "'"), HasSubstr("look at it")));
  // Control: what nobody changes is not named.
  EXPECT_THAT(InBox("cat '" + path + "'").err, Not(HasSubstr("the box ")));
  EXPECT_THAT(InBox("echo '[]' >'" + path + "'").err, HasSubstr("the box changed '" + path + "'"));
  // A copy of the project is the user's to look through.
  const Outcome copy = InBox("echo '{\"x\":1}' >'" + path + "'", {"--propose"});
  EXPECT_EQ(copy.status, 0) << copy.err;
  EXPECT_THAT(copy.err, Not(HasSubstr("the box ")));
}

INSTANTIATE_TEST_SUITE_P(
    OfAgentsEditorsAndShells, ObeyedNames,
    ::testing::Values(".claude/settings.json", ".claude/settings.local.json",
                      ".claude/hooks/pre.sh", ".claude/commands/x.md", ".mcp.json",
                      ".codex/config.toml", ".gemini/settings.json", ".gemini/commands/x.toml",
                      "opencode.json", "opencode.jsonc", ".opencode/plugin/x.js",
                      ".agents/skills/x/SKILL.md", ".aider.conf.yml", ".vscode/tasks.json",
                      ".envrc", ".hg/hgrc", ".husky/pre-commit", "sub/.claude/settings.json"),
    [](const auto& each) {
      std::string name = each.param;
      std::erase_if(name, [](char c) { return std::isalnum(static_cast<unsigned char>(c)) == 0; });
      return name;
    });

}  // namespace
}  // namespace igloo::testing
