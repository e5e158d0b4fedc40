#include "agent/git.h"

#include <gmock/gmock.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "base/temp_dir.h"

namespace igloo::agent {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::Not;

class GitFiles : public ::testing::Test {
 protected:
  GitFiles() : place_(fs::canonical(temp_.path()).string()) {}

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

TEST_F(GitFiles, AProjectWithoutGitIsNoWorkTree) {
  fs::create_directories(place_ + "/p");
  const auto tree = FindWorkTree(place_ + "/p");
  ASSERT_TRUE(tree);
  EXPECT_EQ(tree->common, "");
  EXPECT_TRUE(GuardWorkTree(place_ + "/p", *tree).empty());
}

TEST_F(GitFiles, ARepositoryIsItsOwn) {
  MakeRepository("p/.git");
  const auto tree = FindWorkTree(place_ + "/p");
  ASSERT_TRUE(tree);
  EXPECT_EQ(tree->common, place_ + "/p/.git");
  EXPECT_FALSE(tree->linked());
}

TEST_F(GitFiles, ALinkedWorkTreeHasItsRepositoryElsewhere) {
  MakeLinked();
  const auto tree = FindWorkTree(place_ + "/side");
  ASSERT_TRUE(tree) << tree.error().what;
  EXPECT_TRUE(tree->linked());
  EXPECT_EQ(tree->common, place_ + "/main/.git");
}

TEST_F(GitFiles, AFileThatLeadsToWhatKnowsNothingOfItIsRefused) {
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

TEST_F(GitFiles, ANamedPipeOrALinkInThePlaceOfGitIsNoWorkTree) {
  fs::create_directories(place_ + "/p");
  ASSERT_EQ(::mkfifo((place_ + "/p/.git").c_str(), 0600), 0);
  EXPECT_EQ(FindWorkTree(place_ + "/p")->common, "");
  fs::create_directories(place_ + "/q");
  fs::create_symlink("/etc", place_ + "/q/.git");
  EXPECT_EQ(FindWorkTree(place_ + "/q")->common, "");
}

TEST_F(GitFiles, WhatTheHostsGitRunsIsReadOnlyAndCannotBeMovedAside) {
  MakeRepository("p/.git");
  const auto guards = GuardWorkTree(place_ + "/p", *FindWorkTree(place_ + "/p"));
  std::vector<std::string> write, read;
  for (const auto& guard : guards) {
    const auto& tree = std::get<sandbox::HostTree>(guard);
    (tree.access == sandbox::Access::kReadOnly ? read : write).push_back(tree.target);
  }
  EXPECT_THAT(write, ::testing::ElementsAre(place_ + "/p/.git"));
  EXPECT_THAT(read, ::testing::ElementsAre(place_ + "/p/.git/hooks", place_ + "/p/.git/config"));
}

TEST_F(GitFiles, AFileThatLeadsGitElsewhereIsRefusedAndRemoved) {
  MakeRepository("p/.git");
  const WorkTree tree = *FindWorkTree(place_ + "/p");
  EXPECT_FALSE(RemovePlantedDirection(tree));
  Write("p/.git/commondir", "../evil\n");
  const auto refused = FindWorkTree(place_ + "/p");
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().what, HasSubstr("/p/.git/commondir"));
  EXPECT_TRUE(RemovePlantedDirection(tree));
  EXPECT_TRUE(FindWorkTree(place_ + "/p"));
}

TEST_F(GitFiles, TheFileOfALinkedWorkTreeStays) {
  MakeLinked();
  EXPECT_FALSE(RemovePlantedDirection(*FindWorkTree(place_ + "/side")));
  EXPECT_TRUE(fs::exists(place_ + "/main/.git/worktrees/side/commondir"));
}

TEST_F(GitFiles, TheIdentityIsThatOfTheGlobalConfigurationAndOfNoProject) {
  Write("home/.gitconfig", "[user]\n\tname = Ann \"A\" O'Hara\n\temail = ann@example.org\n");
  const GitIdentity identity = ReadGitIdentity("/usr/bin/git", place_ + "/home");
  EXPECT_EQ(identity.name, "Ann A O'Hara");
  EXPECT_EQ(identity.email, "ann@example.org");
  EXPECT_EQ(ReadGitIdentity("/usr/bin/git", place_ + "/none").name, "");
}

TEST_F(GitFiles, ARepositoryMaySaySomethingElseAboutWhoCommits) {
  MakeRepository("p/.git");
  const WorkTree tree = *FindWorkTree(place_ + "/p");
  const GitIdentity global{.name = "Ann", .email = "ann@example.org"};
  const auto committer = [&] { return IdentityIn(tree, "/usr/bin/git", place_ + "/home", global); };
  EXPECT_EQ(committer().email, "ann@example.org");
  Write("elsewhere", "[user]\n\tname = Somebody\n");
  Write("p/.git/config",
        "[include]\n\tpath = " + place_ + "/elsewhere\n[user]\n\temail = ann@work.example\n");
  EXPECT_EQ(committer().email, "ann@work.example");
  EXPECT_EQ(committer().name, "Ann") << "and nothing that it includes";
}

TEST(GitConfigText, SaysNothingOfAnIdentityThatIsNotThere) {
  EXPECT_THAT(GitConfigText({}), Not(HasSubstr("[user]")));
  EXPECT_THAT(GitConfigText({}), HasSubstr("directory = *"));
}

TEST(GitConfigText, QuotesWhatGitWouldReadAsMore) {
  const std::string text = GitConfigText({.name = "a\"\n[alias]\n\tx = !sh", .email = "b\\c"});
  EXPECT_THAT(text, HasSubstr(R"(name = "a\"[alias]x = !sh")"));
  EXPECT_THAT(text, HasSubstr(R"(email = "b\\c")"));
}

}  // namespace
}  // namespace igloo::agent
