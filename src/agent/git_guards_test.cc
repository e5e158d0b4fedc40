#include "agent/git_guards.h"

#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>

#include "base/temp_dir.h"

namespace igloo::agent {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Not;

class GitGuards : public ::testing::Test {
 protected:
  GitGuards() : place_(fs::canonical(temp_.path()).string()) { MakeRepository("p/.git"); }

  void Write(const std::string& path, const std::string& text) {
    fs::create_directories(fs::path(place_ + "/" + path).parent_path());
    std::ofstream(place_ + "/" + path) << text;
  }
  void MakeRepository(const std::string& path) {
    Write(path + "/HEAD", "ref: refs/heads/main\n");
    for (const char* each : {"/objects", "/refs", "/hooks"}) {
      fs::create_directories(place_ + "/" + path + each);
    }
    Write(path + "/config", "[core]\n");
  }
  /// Targets below the place, of one kind.
  std::vector<std::string> Guards(sandbox::Access access, const std::string& project = "p") {
    const auto tree = environment::FindWorkTree(place_ + "/" + project);
    EXPECT_TRUE(tree) << tree.error().what;
    std::vector<std::string> paths;
    for (const auto& guard : GuardWorkTree(place_ + "/" + project, *tree, place_ + "/home")) {
      const auto& mount = std::get<sandbox::HostTree>(guard);
      if (mount.access == access) paths.push_back(mount.target.substr(place_.size() + 1));
    }
    return paths;
  }
  std::vector<std::string> Read(const std::string& project = "p") {
    return Guards(sandbox::Access::kReadOnly, project);
  }
  std::vector<std::string> Written(const std::string& project = "p") {
    return Guards(sandbox::Access::kReadWrite, project);
  }

  TempDir temp_ = *TempDir::Make(::testing::TempDir());
  std::string place_;
};

TEST_F(GitGuards, WhatTheHostsGitRunsIsReadOnlyAndCannotBeMovedAside) {
  EXPECT_THAT(Written(), ElementsAre("p/.git"));
  EXPECT_THAT(Read(), ElementsAre("p/.git/hooks", "p/.git/config"));
}

TEST_F(GitGuards, AProjectWithoutGitHasNone) {
  EXPECT_THAT(GuardWorkTree(place_ + "/home", {}, place_ + "/home"), IsEmpty());
}

TEST_F(GitGuards, OfSubmodulesAtAnyDepthLikewise) {
  MakeRepository("p/.git/modules/libs/one");
  MakeRepository("p/.git/modules/libs/one/modules/two");
  Write("p/.git/modules/libs/one/config.worktree", "");
  EXPECT_THAT(Written(), AllOf(Contains("p/.git/modules"), Contains("p/.git/modules/libs"),
                               Contains("p/.git/modules/libs/one"),
                               Contains("p/.git/modules/libs/one/modules"),
                               Contains("p/.git/modules/libs/one/modules/two")));
  EXPECT_THAT(Read(), AllOf(Contains("p/.git/modules/libs/one/config"),
                            Contains("p/.git/modules/libs/one/config.worktree"),
                            Contains("p/.git/modules/libs/one/hooks"),
                            Contains("p/.git/modules/libs/one/modules/two/config")));
}

TEST_F(GitGuards, OtherWorkTreesAreReadOnlyAndThisOnesSaysWhereGitLooks) {
  for (const char* name : {"side", "other"}) {
    const std::string own = std::string("p/.git/worktrees/") + name;
    Write(own + "/commondir", "../..\n");
    Write(own + "/gitdir", place_ + "/" + name + "/.git\n");
    Write(std::string(name) + "/.git", "gitdir: " + place_ + "/" + own + "\n");
  }
  EXPECT_THAT(Read(), AllOf(Contains("p/.git/worktrees/side"), Contains("p/.git/worktrees/other")));
  EXPECT_THAT(Written(), Contains("p/.git/worktrees"));
  EXPECT_THAT(Read("side"), AllOf(Contains("p/.git/worktrees/other"), Contains("side/.git"),
                                  Contains("p/.git/worktrees/side/commondir"),
                                  Not(Contains("p/.git/worktrees/side"))));
  EXPECT_THAT(Written("side"), Contains("p/.git/worktrees/side"));
}

TEST_F(GitGuards, AWorkTreeInTheProjectIsWrittenTo) {
  Write("p/.git/worktrees/inner/commondir", "../..\n");
  Write("p/.git/worktrees/inner/gitdir", place_ + "/p/.trees/inner/.git\n");
  Write("p/.trees/inner/.git", "gitdir: ../../.git/worktrees/inner\n");
  EXPECT_THAT(Written(), Contains("p/.git/worktrees/inner"));
  EXPECT_THAT(Read(), Contains("p/.git/worktrees/inner/commondir"));
}

TEST_F(GitGuards, WhatAConfigurationLeadsToInTheProject) {
  Write("p/team.config", "");
  Write("home/own.config", "");
  fs::create_directories(place_ + "/p/.githooks");
  Write("p/.git/config",
        "[include]\n\tpath = ../team.config\n[include]\n\tpath = ~/own.config\n"
        "[core]\n\thooksPath = .githooks\n");
  EXPECT_THAT(Read(), AllOf(Contains("p/team.config"), Not(Contains("home/own.config"))));
  const LedTo led =
      FilesLedTo(place_ + "/p", *environment::FindWorkTree(place_ + "/p"), place_ + "/home");
  EXPECT_EQ(led.hooks, place_ + "/p/.githooks");
}

}  // namespace
}  // namespace igloo::agent
