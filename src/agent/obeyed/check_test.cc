#include "agent/obeyed/check.h"

#include <gmock/gmock.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

#include "base/temp_dir.h"

namespace igloo::agent {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::Field;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using What = ObeyedFinding::What;

constexpr const char* kClean = "[core]\n\tbare = false\n";
constexpr const char* kEvil = "[core]\n\tbare = false\n\tfsmonitor = ./evil\n";

class Obeying : public ::testing::Test {
 protected:
  Obeying() : place_(fs::canonical(temp_.path()).string()) { MakeRepository(".git"); }

  std::string Path(const std::string& path) const { return place_ + "/p/" + path; }
  void Write(const std::string& path, const std::string& text, mode_t mode = 0644) const {
    fs::create_directories(fs::path(Path(path)).parent_path());
    std::ofstream(Path(path)) << text;
    ::chmod(Path(path).c_str(), mode);
  }
  std::string Read(const std::string& path) const {
    if (!fs::exists(fs::symlink_status(Path(path)))) return "(nothing)";
    std::ifstream file(Path(path));
    return {std::istreambuf_iterator<char>(file), {}};
  }
  void MakeRepository(const std::string& path, const std::string& config = kClean) const {
    Write(path + "/HEAD", "ref: refs/heads/main\n");
    fs::create_directories(Path(path + "/objects"));
    fs::create_directories(Path(path + "/refs"));
    Write(path + "/config", config);
  }
  void Begin() {
    tree_ = *environment::FindWorkTree(place_ + "/p");
    check_.emplace(*ObeyedCheck::Begin(place_ + "/p", tree_, place_ + "/home"));
  }
  std::vector<ObeyedFinding> Finish() {
    auto findings = check_->Finish(place_ + "/state/taken-away/box");
    EXPECT_TRUE(findings) << findings.error().what;
    return findings.value_or(std::vector<ObeyedFinding>());
  }
  static auto Found(What what, const std::string& path) {
    return AllOf(Field(&ObeyedFinding::what, what),
                 Field(&ObeyedFinding::path, ::testing::EndsWith("/p/" + path)));
  }

  TempDir temp_ = *TempDir::Make(::testing::TempDir());
  std::string place_;
  WorkTree tree_ = {};
  std::optional<ObeyedCheck> check_ = {};
};

TEST_F(Obeying, NothingIsFoundWhereNothingChanged) {
  MakeRepository("sub/.git", kEvil);
  Write("sub/.git/hooks/pre-commit", "#!/bin/sh\n", 0755);
  Write(".claude/settings.json", "{}");
  Write("sub/commondir", "x");
  Begin();
  Write("file", "of the project\n");
  EXPECT_THAT(Finish(), IsEmpty());
  EXPECT_EQ(Read("sub/.git/config"), kEvil) << "the user's own stays";
}

TEST_F(Obeying, ANewRepositoryKeepsWhatIsHarmless) {
  Begin();
  MakeRepository("new/.git", std::string(kEvil) + "[remote \"origin\"]\n\turl = https://x/y\n");
  MakeRepository("plain/.git");
  Write("plain/.git/hooks/pre-commit.sample", "#!/bin/sh\n", 0755);
  const auto found = Finish();
  ASSERT_THAT(found, ElementsAre(Found(What::kPutRight, "new/.git/config")));
  EXPECT_EQ(found[0].detail, "core.fsmonitor = ./evil");
  EXPECT_EQ(Read("new/.git/config"),
            "[core]\n\tbare = false\n[remote \"origin\"]\n\turl = https://x/y\n");
  std::ifstream kept(found[0].kept);
  EXPECT_THAT((std::string(std::istreambuf_iterator<char>(kept), {})), HasSubstr("fsmonitor"));
}

TEST_F(Obeying, WhatWasThereComesBack) {
  MakeRepository("sub/.git", "[alias]\n\tst = !mine\n");
  Write("sub/.git/hooks/pre-commit", "mine\n", 0755);
  Begin();
  Write("sub/.git/config", "[alias]\n\tst = !mine\n\tci = !evil\n");
  Write("sub/.git/hooks/pre-commit", "evil\n", 0755);
  Write("sub/.git/hooks/post-commit", "evil\n", 0755);
  EXPECT_THAT(Finish(), ElementsAre(Found(What::kPutRight, "sub/.git/config"),
                                    Found(What::kPutRight, "sub/.git/hooks/post-commit"),
                                    Found(What::kPutRight, "sub/.git/hooks/pre-commit")));
  EXPECT_EQ(Read("sub/.git/config"), "[alias]\n\tst = !mine\n");
  EXPECT_EQ(Read("sub/.git/hooks/pre-commit"), "mine\n");
  struct stat info{};
  ASSERT_EQ(::stat(Path("sub/.git/hooks/pre-commit").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777U, 0755U);
  EXPECT_EQ(Read("sub/.git/hooks/post-commit"), "(nothing)");
}

TEST_F(Obeying, WhatIsTooLargeToBeReadStaysWhileItIsTheSame) {
  const std::string large(2U << 20, '#');
  MakeRepository("sub/.git", large);
  Begin();
  EXPECT_THAT(Finish(), IsEmpty());
  EXPECT_EQ(Read("sub/.git/config"), large);
  Write("sub/.git/config", large + "\n[core]\n\tfsmonitor = ./evil\n");
  EXPECT_THAT(Finish(), ElementsAre(Found(What::kPutRight, "sub/.git/config")));
  EXPECT_EQ(Read("sub/.git/config"), "(nothing)");
}

TEST_F(Obeying, ARepositoryIsFoundUnderAnyName) {
  Begin();
  MakeRepository("bare", kEvil);
  MakeRepository(".git/objects/ab", kEvil);
  MakeRepository("deep/er/x.git", kEvil);
  Write("odd/HEAD", "x");
  Write("odd/commondir", "../elsewhere\n");
  EXPECT_EQ(Finish().size(), 4U);
  for (const char* each : {"bare", ".git/objects/ab", "deep/er/x.git"}) {
    EXPECT_EQ(Read(std::string(each) + "/config"), kClean) << each;
  }
  EXPECT_EQ(Read("odd/commondir"), "(nothing)");
}

TEST_F(Obeying, ARepositoryThatWasMovedCountsAsNew) {
  MakeRepository("fixtures/dot", kEvil);
  Begin();
  fs::rename(Path("fixtures/dot"), Path("fixtures/.git"));
  EXPECT_THAT(Finish(), ElementsAre(Found(What::kPutRight, "fixtures/.git/config")));
  EXPECT_EQ(Read("fixtures/.git/config"), kClean);
}

TEST_F(Obeying, LinksInThePlaceOfWhatGitObeysGo) {
  Begin();
  MakeRepository("a/.git");
  fs::remove(Path("a/.git/config"));
  fs::create_symlink("../../evil", Path("a/.git/config"));
  MakeRepository("b/.git");
  fs::create_directory(Path("scripts"));
  fs::create_symlink("../../scripts", Path("b/.git/hooks"));
  Write("c/x", "");
  fs::create_symlink("/etc", Path("c/.git"));
  EXPECT_THAT(Finish(),
              ElementsAre(Found(What::kPutRight, "c/.git"), Found(What::kPutRight, "a/.git/config"),
                          Found(What::kPutRight, "b/.git/hooks")));
  for (const char* each : {"a/.git/config", "b/.git/hooks", "c/.git"}) {
    EXPECT_EQ(Read(each), "(nothing)") << each;
  }
}

TEST_F(Obeying, AWorkTreeThatGitMadeStays) {
  Begin();
  Write("side/.git", "gitdir: " + Path(".git/worktrees/side") + "\n");
  Write(".git/worktrees/side/HEAD", "ref: refs/heads/side\n");
  Write(".git/worktrees/side/commondir", "../..\n");
  EXPECT_THAT(Finish(), IsEmpty());
  Write("out/.git", "gitdir: /etc\n");
  Write(".git/worktrees/side/commondir", "../../../evil\n");
  EXPECT_THAT(Finish(), ElementsAre(Found(What::kPutRight, "out/.git"),
                                    Found(What::kPutRight, ".git/worktrees/side/commondir")));
}

TEST_F(Obeying, AProjectWithoutARepositoryIsLookedAtAsWell) {
  fs::remove_all(Path(".git"));
  Begin();
  MakeRepository("sub/.git", kEvil);
  Write("out/.git", "gitdir: /etc\n");
  EXPECT_THAT(Finish(), ElementsAre(Found(What::kPutRight, "out/.git"),
                                    Found(What::kPutRight, "sub/.git/config")));
}

TEST_F(Obeying, AFileThatAConfigurationIncludesIsOneItself) {
  Write(".git/config", "[include]\n\tpath = ../team\n");
  Begin();
  Write("team", "[core]\n\tpager = evil\n");
  EXPECT_THAT(Finish(), ElementsAre(Found(What::kPutRight, "team")));
  EXPECT_EQ(Read("team"), "(nothing)");
}

TEST_F(Obeying, TheLookBeforeSurvivesIgloo) {
  MakeRepository("sub/.git", kEvil);
  Write("sub/.git/hooks/pre-commit", "mine\n", 0755);
  fs::create_symlink("nowhere", Path("sub/.git/hooks/link"));
  Write(".envrc", "mine\n");
  Begin();
  const std::string bytes = check_->Encode();
  auto again = ObeyedCheck::Decode(bytes);
  ASSERT_TRUE(again);
  check_.emplace(*std::move(again));
  EXPECT_THAT(Finish(), IsEmpty());
  MakeRepository("new/.git", kEvil);
  EXPECT_THAT(Finish(), ElementsAre(Found(What::kPutRight, "new/.git/config")));
  EXPECT_FALSE(ObeyedCheck::Decode(bytes.substr(1)));
  EXPECT_FALSE(ObeyedCheck::Decode(bytes.substr(0, bytes.size() - 1)));
}

TEST_F(Obeying, AProjectThatIsMovedMeanwhileIsLookedAtWhereItIs) {
  MakeRepository("sub/.git", kEvil);
  Begin();
  MakeRepository("new/.git", kEvil);
  fs::rename(place_ + "/p", place_ + "/q");
  const auto found = Finish();
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].path, place_ + "/q/new/.git/config");
  fs::rename(place_ + "/q", place_ + "/p");
  EXPECT_EQ(Read("new/.git/config"), kClean);
  EXPECT_EQ(Read("sub/.git/config"), kEvil);
}

TEST_F(Obeying, NamesThatProgramsGoByAreReportedAndLeft) {
  Write(".envrc", "mine\n");
  Write(".vscode/tasks.json", "mine\n");
  Write(".git/config", "[core]\n\thooksPath = hooks\n");
  Write("hooks/pre-commit", "mine\n", 0755);
  Begin();
  Write(".vscode/tasks.json", "mine\n");
  fs::remove(Path(".envrc"));
  Write("hooks/pre-commit", "evil\n", 0755);
  Write(".claude/settings.json", "{}");
  Write("sub/.mcp.json", "{}");
  Write("sub/.hg/hgrc", "[hooks]\n");
  Write(".claude/worktrees/x/file", "of a work tree of the agent's");
  EXPECT_THAT(
      Finish(),
      ElementsAre(Found(What::kRemoved, ".envrc"), Found(What::kMade, ".claude/settings.json"),
                  Found(What::kChanged, "hooks/pre-commit"), Found(What::kMade, "sub/.mcp.json"),
                  Found(What::kMade, "sub/.hg/hgrc")));
  EXPECT_EQ(Read("hooks/pre-commit"), "evil\n");
}

}  // namespace
}  // namespace igloo::agent
