#include "agent/state/projects.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

#include "base/file.h"
#include "base/sha256.h"
#include "base/temp_dir.h"

namespace igloo::agent {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

class Projects : public ::testing::Test {
 protected:
  void SetUp() override {
    auto temp = TempDir::Make(::testing::TempDir());
    ASSERT_TRUE(temp) << temp.error().what;
    temp_.emplace(*std::move(temp));
    top_ = fs::canonical(temp_->path());
  }

  void Write(const fs::path& path, const std::string& text) {
    fs::create_directories((top_ / path).parent_path());
    std::ofstream(top_ / path) << text;
  }
  /// As git init makes it.
  void Repository(const fs::path& path) {
    fs::create_directories(top_ / path / "objects");
    fs::create_directories(top_ / path / "refs");
    Write(path / "HEAD", "ref: refs/heads/main\n");
  }
  /// As git worktree add makes it.
  void Linked(const fs::path& git, const fs::path& tree, const std::string& name) {
    Write(tree / ".git", "gitdir: " + (top_ / git / "worktrees" / name).string() + "\n");
    Write(git / "worktrees" / name / "gitdir", (top_ / tree / ".git").string() + "\n");
    Write(git / "worktrees" / name / "commondir", "../..\n");
    Write(git / "worktrees" / name / "HEAD", "ref: refs/heads/x\n");
  }
  ProjectRoot Root(const fs::path& path) {
    const auto root = FindProjectRoot((top_ / path).string());
    EXPECT_TRUE(root) << root.error().what;
    return root.value_or(ProjectRoot{});
  }
  ProjectRoot Repo(const fs::path& path) { return {(top_ / path).string(), true}; }
  ProjectRoot Plain(const fs::path& path) { return {(top_ / path).string(), false}; }

  std::optional<TempDir> temp_;
  fs::path top_;
};

TEST_F(Projects, TheRootIsTheRepositorysFromEveryDirectoryInIt) {
  Repository("p/.git");
  fs::create_directories(top_ / "p/src/deep");
  EXPECT_EQ(Root("p"), Repo("p"));
  EXPECT_EQ(Root("p/src/deep"), Repo("p"));
  fs::create_directory_symlink(top_ / "p/src", top_ / "link");
  EXPECT_EQ(Root("link"), Repo("p"));
}

TEST_F(Projects, LinkedWorkTreesShareTheRoot) {
  Repository("p/.git");
  Linked("p/.git", "elsewhere/tree", "t");
  fs::create_directories(top_ / "elsewhere/tree/src");
  EXPECT_EQ(Root("elsewhere/tree/src"), Repo("p"));
  Repository("bare.git");
  Linked("bare.git", "of-bare", "t");
  EXPECT_EQ(Root("of-bare"), Repo("bare.git"));
}

TEST_F(Projects, ASubmoduleIsAProjectOfItsOwn) {
  Repository("p/.git");
  Repository("p/.git/modules/sub");
  Write("p/sub/.git", "gitdir: ../.git/modules/sub\n");
  EXPECT_EQ(Root("p/sub"), Repo("p/sub"));
}

TEST_F(Projects, WithoutARepositoryTheDirectoryIsTheRoot) {
  fs::create_directories(top_ / "plain/.git");
  EXPECT_EQ(Root("plain"), Plain("plain")) << "an empty .git is no repository";
  EXPECT_FALSE(FindProjectRoot((top_ / "none").string()));
}

TEST_F(Projects, AGitFileCannotNameAnotherProject) {
  Repository("victim/.git");
  Linked("victim/.git", "own-tree", "t");
  fs::create_directories(top_ / "evil");
  const std::string victim = (top_ / "victim/.git").string();
  // The control: the same words count where the repository says them, too.
  EXPECT_EQ(Root("own-tree"), Repo("victim"));
  Write("evil/.git", "gitdir: " + victim + "/worktrees/t\n");
  EXPECT_NE(Root("evil"), Repo("victim"));
  // A work tree's list that the project brings along.
  Write("evil/fake/gitdir", (top_ / "evil/.git").string() + "\n");
  Write("evil/fake/commondir", victim + "\n");
  Write("evil/.git", "gitdir: fake\n");
  EXPECT_NE(Root("evil"), Repo("victim"));
  Write("evil/.git", "gitdir: " + victim + "\n");
  EXPECT_EQ(Root("evil"), Repo("evil"));
  fs::remove(top_ / "evil/.git");
  fs::create_directory_symlink(victim, top_ / "evil/.git");
  EXPECT_NE(Root("evil"), Repo("victim"));
}

TEST_F(Projects, HostileGitFilesAreAnswered) {
  fs::create_directories(top_ / "p");
  const auto with = [&](const std::string& text) {
    Write("p/.git", text);
    return Root("p");
  };
  for (const std::string& text :
       {std::string(), std::string("gitdir: "), std::string("gitdir: \n\n"),
        std::string("gitdir: .git\n"), std::string("gitdir: .\nother\n"),
        std::string("gitdir: /\0etc", 13), std::string("gitdir: ") + std::string(1U << 20, 'x'),
        std::string("gitdir: ") + std::string(8000, '/'), std::string("\xff\xfe")}) {
    EXPECT_EQ(with(text), Plain("p"));
  }
  fs::remove(top_ / "p/.git");
  fs::create_symlink("loop", top_ / "p/loop");
  EXPECT_EQ(with("gitdir: loop\n"), Plain("p"));
  fs::remove(top_ / "p/.git");
  ASSERT_EQ(::mkfifo((top_ / "p/.git").c_str(), 0600), 0);
  EXPECT_EQ(Root("p"), Plain("p"));
  fs::remove(top_ / "p/.git");
  fs::create_symlink(".git", top_ / "p/.git");
  EXPECT_EQ(Root("p"), Plain("p"));
}

TEST(ProjectKey, IsTheBeginningOfADigest) {
  EXPECT_EQ(ProjectKey("/home/me/p"), Sha256Hex("/home/me/p").substr(0, 16));
}

TEST(ClaudeProjectName, IsTheOneThatTheAgentMakes) {
  EXPECT_EQ(ClaudeProjectName("/home/me/My_project.x 2"), "-home-me-My-project-x-2");
  EXPECT_EQ(ClaudeProjectName("/h/\xd0\x9f\xd1\x80"), "-h---") << "a character, a dash";
  EXPECT_EQ(ClaudeProjectName("/h/\xf0\x9f\x98\x80"), "-h---") << "two units";
  EXPECT_EQ(ClaudeProjectName("/" + std::string(199, 'a')).size(), 200U);
  // From JavaScript: h = (h << 5) - h + unit | 0 over "/" and 200 times "a"; Math.abs; base 36.
  EXPECT_EQ(ClaudeProjectName("/" + std::string(200, 'a')),
            "-" + std::string(199, 'a') + "-b6ymvl");
  EXPECT_EQ(ClaudeProjectName("/" + std::string(250, '.') + "\xd0\x9f\xf0\x9f\x98\x80"),
            std::string(200, '-') + "-73gppv");
}

TEST_F(Projects, AHistorySaysWhoseItIs) {
  const std::string projects = (top_ / "box/projects").string();
  const auto directory = OpenProjectHistory(projects, "/home/me/p");
  ASSERT_TRUE(directory) << directory.error().what;
  EXPECT_EQ(*directory, projects + "/" + ProjectKey("/home/me/p"));
  EXPECT_EQ(ReadFile(*directory + "/project-root", 100), "/home/me/p\n");
  EXPECT_EQ(OpenProjectHistory(projects, "/home/me/p"), *directory);
  fs::remove(*directory + "/project-root");
  ASSERT_EQ(::mkfifo((*directory + "/project-root").c_str(), 0600), 0);
  EXPECT_TRUE(OpenProjectHistory(projects, "/home/me/p")) << "what a box made of it is replaced";
  EXPECT_EQ(ReadFile(*directory + "/project-root", 100), "/home/me/p\n");
}

TEST_F(Projects, HistoriesOfProjectsThatAreGoneAreRemovedAndNoOthers) {
  const std::string projects = (top_ / "projects").string();
  EXPECT_THAT(*RemoveStaleHistories(projects), IsEmpty());
  fs::create_directories(top_ / "here");
  const std::string gone = (top_ / "gone").string(), here = (top_ / "here").string();
  const std::string gone_history = OpenProjectHistory(projects, gone).value();
  const std::string here_history = OpenProjectHistory(projects, here).value();
  // What a box may have written about a project that is still there, and what is none of ours.
  const std::string lied = OpenProjectHistory(projects, here + "/x").value();
  fs::create_directories(here + "/x");
  std::ofstream(lied + "/project-root") << gone;
  Write("projects/0123456789abcdef/notes", "kept");
  Write("projects/notes", "kept");
  fs::create_directory_symlink(here, top_ / "projects/fedcba9876543210");
  std::ofstream(gone_history + "/project-root") << gone;  // as the older tool writes it
  EXPECT_THAT(*RemoveStaleHistories(projects), ElementsAre(StaleHistory{gone_history, gone}));
  EXPECT_FALSE(fs::exists(gone_history));
  for (const std::string& kept : {here_history, lied, projects + "/0123456789abcdef/notes", here}) {
    EXPECT_TRUE(fs::exists(kept)) << kept;
  }
}

}  // namespace
}  // namespace igloo::agent
