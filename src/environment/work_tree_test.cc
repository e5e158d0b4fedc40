#include "environment/work_tree.h"

#include <gmock/gmock.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "base/temp_dir.h"

namespace igloo::environment {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

class WorkTrees : public ::testing::Test {
 protected:
  WorkTrees() : place_(fs::canonical(temp_.path()).string()) {}

  void Write(const std::string& path, const std::string& text) {
    fs::create_directories(fs::path(place_ + "/" + path).parent_path());
    std::ofstream(place_ + "/" + path) << text;
  }
  void MakeRepository(const std::string& path) {
    Write(path + "/HEAD", "ref: refs/heads/main\n");
    fs::create_directories(place_ + "/" + path + "/objects");
    fs::create_directories(place_ + "/" + path + "/refs");
    fs::create_directories(place_ + "/" + path + "/hooks");
    Write(path + "/config", "[core]\n");
  }
  void MakeLinked() {
    MakeRepository("main/.git");
    Write("main/.git/worktrees/side/commondir", "../..\n");
    Write("main/.git/worktrees/side/gitdir", place_ + "/side/.git\n");
    Write("side/.git", "gitdir: " + place_ + "/main/.git/worktrees/side\n");
  }

  TempDir temp_ = *TempDir::Make(::testing::TempDir());
  std::string place_;
};

TEST_F(WorkTrees, AProjectWithoutGitIsNoWorkTree) {
  fs::create_directories(place_ + "/p");
  const auto tree = FindWorkTree(place_ + "/p");
  ASSERT_TRUE(tree);
  EXPECT_EQ(tree->common, "");
}

TEST_F(WorkTrees, ARepositoryIsItsOwn) {
  MakeRepository("p/.git");
  const auto tree = FindWorkTree(place_ + "/p");
  ASSERT_TRUE(tree);
  EXPECT_EQ(tree->common, place_ + "/p/.git");
  EXPECT_FALSE(tree->linked());
}

TEST_F(WorkTrees, ALinkedWorkTreeHasItsRepositoryElsewhere) {
  MakeLinked();
  const auto tree = FindWorkTree(place_ + "/side");
  ASSERT_TRUE(tree) << tree.error().what;
  EXPECT_TRUE(tree->linked());
  EXPECT_EQ(tree->common, place_ + "/main/.git");
  EXPECT_TRUE(tree->elsewhere);
}

TEST_F(WorkTrees, AFileThatLeadsToWhatKnowsNothingOfItIsRefused) {
  MakeLinked();
  fs::create_directories(place_ + "/secret/objects");
  for (const std::string& target : {place_ + "/secret", place_ + "/main/.git", std::string("../.."),
                                    place_ + "/main/.git/worktrees", std::string("/nowhere")}) {
    Write("evil/.git", "gitdir: " + target + "\n");
    const auto tree = FindWorkTree(place_ + "/evil");
    EXPECT_FALSE(tree) << target;
  }
  // It names the work tree of somebody else.
  Write("evil/.git", "gitdir: " + place_ + "/main/.git/worktrees/side\n");
  EXPECT_FALSE(FindWorkTree(place_ + "/evil"));
}

TEST_F(WorkTrees, ANamedPipeOrALinkInThePlaceOfGitIsNoWorkTree) {
  fs::create_directories(place_ + "/p");
  ASSERT_EQ(::mkfifo((place_ + "/p/.git").c_str(), 0600), 0);
  EXPECT_EQ(FindWorkTree(place_ + "/p")->common, "");
  fs::create_directories(place_ + "/q");
  fs::create_symlink("/etc", place_ + "/q/.git");
  EXPECT_EQ(FindWorkTree(place_ + "/q")->common, "");
}

TEST_F(WorkTrees, AFileThatLeadsGitElsewhereIsRefused) {
  MakeRepository("p/.git");
  Write("p/.git/commondir", "../evil\n");
  const auto refused = FindWorkTree(place_ + "/p");
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().what, HasSubstr("/p/.git/commondir"));
}

TEST_F(WorkTrees, ARelativeGitFileIsShownWithTheWholePathElsewhere) {
  MakeLinked();
  EXPECT_FALSE(WholeGitFile(place_ + "/side", *FindWorkTree(place_ + "/side")));
  Write("side/.git", "gitdir: ../main/.git/worktrees/side\n");
  const auto file = WholeGitFile(place_ + "/side", *FindWorkTree(place_ + "/side"));
  ASSERT_TRUE(file);
  EXPECT_EQ(file->instead, "gitdir: " + place_ + "/main/.git/worktrees/side\n");
  MakeRepository("p/.git");
  EXPECT_FALSE(WholeGitFile(place_ + "/p", *FindWorkTree(place_ + "/p")));
}

TEST_F(WorkTrees, ASubmoduleIsTheWorkTreeThatItsRepositoryNames) {
  MakeRepository("main/.git/modules/sub");
  Write("main/.git/modules/sub/config", "[core]\n\tbare = false\n\tworktree = ../../../sub\n");
  Write("main/sub/.git", "gitdir: ../.git/modules/sub\n");
  const auto tree = FindWorkTree(place_ + "/main/sub");
  ASSERT_TRUE(tree) << tree.error().what;
  EXPECT_EQ(tree->common, place_ + "/main/.git/modules/sub");
  EXPECT_TRUE(tree->elsewhere);
  EXPECT_FALSE(tree->linked());
}

TEST_F(WorkTrees, ARepositoryThatNamesAnotherWorkTreeIsRefused) {
  MakeRepository("main/.git/modules/sub");
  Write("evil/.git", "gitdir: " + place_ + "/main/.git/modules/sub\n");
  for (const char* config :
       {"", "[core]\n\tworktree = ../../../sub\n", "[core]\n\tworktree = ../../../../evil\n[x]\n",
        "[core]\n\tworktree = /nowhere\n\tworktree = ../../../../evil\n",
        "[core \"x\"]\n\tworktree = ../../../../evil\n",
        "[user]\n\tworktree = ../../../../evil\n"}) {
    Write("main/.git/modules/sub/config", config);
    const bool names_it = std::string(config).starts_with("[core]\n\tworktree = ../../../../evil");
    EXPECT_EQ(FindWorkTree(place_ + "/evil").has_value(), names_it) << config;
  }
}

}  // namespace
}  // namespace igloo::environment
