#include "service/changes/apply.h"

#include <fcntl.h>

#include "service/changes/patch.h"
#include "service/changes/testing.h"

namespace igloo::service::changes {
namespace {

using testing::ChangesTest;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

std::string Lines(int from, int to) {
  std::string text;
  for (int i = from; i <= to; ++i) text += "line " + std::to_string(i) + "\n";
  return text;
}

std::string Replaced(std::string text, const std::string& what, const std::string& with) {
  return text.replace(text.find(what), what.size(), with);
}

mode_t ModeOf(const std::string& path) {
  struct stat info{};
  EXPECT_EQ(::lstat(path.c_str(), &info), 0) << path;
  return info.st_mode & 07777;
}

class ApplyChangesTest : public ChangesTest {
 protected:
  void Git(const std::string& words) const {
    const std::string command = "cd '" + project_ +
                                "' && HOME=/nonexistent git -c user.name=a -c user.email=a@b " +
                                words + " >/dev/null 2>&1";
    ASSERT_EQ(std::system(command.c_str()), 0) << words;
  }
  /// The index is older than a second, so git trusts it, and so may we.
  void Commit(const std::string& index_version = "2") const {
    Git("init -q -b main");
    Git("add -A");
    Git("commit -q --allow-empty -m base");
    Git("update-index --index-version " + index_version);
    const std::string place = project_ + "/.git/index";
    timespec times[2] = {{.tv_sec = 0, .tv_nsec = UTIME_OMIT}, {}};
    ::clock_gettime(CLOCK_REALTIME, &times[1]);
    times[1].tv_sec += 5;
    ::utimensat(AT_FDCWD, place.c_str(), times, 0);
  }
};

TEST_F(ApplyChangesTest, BringsEveryKindOfChange) {
  Host("changed", "one\n");
  Host("deleted", "something of some length\n");
  Host("dir/inner", "x");
  Host("script", "#!/bin/sh\n");
  BeginSet();
  Inside("changed", "ONE\n");
  Inside("new/deep/file", std::string("bin\0ary", 7));
  Inside("script", "#!/bin/sh\n");
  ::chmod((upper_ + "/script").c_str(), 0755);
  Whiteout("deleted");
  Whiteout("dir");
  ASSERT_EQ(::symlink("/etc/passwd", (upper_ + "/link").c_str()), 0);
  std::filesystem::create_directory(upper_ + "/empty");
  const Outcome outcome = ApplyAll();
  EXPECT_TRUE(outcome.complete());
  EXPECT_EQ(OnHost("changed"), "ONE\n");
  EXPECT_EQ(OnHost("new/deep/file"), std::string("bin\0ary", 7));
  EXPECT_EQ(ModeOf(project_ + "/script"), 0755U);
  EXPECT_EQ(ReadLink(project_ + "/link").value_or(""), "/etc/passwd");
  EXPECT_THAT(TopNames(), UnorderedElementsAre("changed", "new", "script", "link", "empty"));

  const Outcome again = ApplyAll();
  EXPECT_THAT(again.applied, IsEmpty()) << "what is there already is not written again";
  EXPECT_TRUE(again.complete());
}

TEST_F(ApplyChangesTest, AHostEditBeforeOrAfterTheSandboxsOwnIsAConflictAndStays) {
  Host("file", "one\n");
  Host("gone", "two, to be deleted\n");
  BeginSet();
  Inside("file", "inside\n");
  Whiteout("gone");
  Inside("both", "inside");
  Host("file", "host\n");
  Host("gone", "host\n");
  Host("both", "host");
  const Outcome outcome = ApplyAll();
  EXPECT_THAT(outcome.applied, IsEmpty());
  EXPECT_EQ(outcome.conflicts.size(), 3U);
  EXPECT_EQ(OnHost("file"), "host\n");
  EXPECT_EQ(OnHost("gone"), "host\n");
  EXPECT_EQ(OnHost("both"), "host");
}

TEST_F(ApplyChangesTest, WhatTheHostDeletedStaysDeleted) {
  Host("file", "one\n");
  BeginSet();
  Inside("file", "inside\n");
  std::filesystem::remove(project_ + "/file");
  EXPECT_THAT(ApplyAll().conflicts, ElementsAre(Remark{"file", "it was deleted on the host"}));
  EXPECT_THAT(TopNames(), IsEmpty());
}

TEST_F(ApplyChangesTest, WithGitEditsInOtherLinesAreMerged) {
  Host("file", Lines(1, 20));
  Host("same", Lines(1, 20));
  Commit();
  BeginSet();
  Inside("file", Replaced(Lines(1, 20), "line 2\n", "inside\n"));
  Inside("same", Replaced(Lines(1, 20), "line 9\n", "inside\n"));
  Host("file", Replaced(Lines(1, 20), "line 18\n", "host\n"));
  Host("same", Replaced(Lines(1, 20), "line 9\n", "host\n"));
  const Outcome outcome = ApplyAll();
  EXPECT_THAT(outcome.merged, ElementsAre("file"));
  EXPECT_EQ(OnHost("file"),
            Replaced(Replaced(Lines(1, 20), "line 18\n", "host\n"), "line 2\n", "inside\n"));
  EXPECT_THAT(outcome.conflicts,
              ElementsAre(Remark{"same", "the same lines were changed on the host"}));
}

TEST_F(ApplyChangesTest, IndexesOfEveryVersionTellWhatAFileWas) {
  for (const std::string version : {"2", "3", "4"}) {
    std::filesystem::remove_all(project_);
    std::filesystem::remove_all(directory_.path() + "/state");
    Host("dir/file", Lines(1, 20));
    Host("dir/fine", "x");
    Host("dim", "y");
    Commit(version);
    BeginSet();
    Inside("dir/file", Replaced(Lines(1, 20), "line 2\n", "inside\n"));
    Host("dir/file", Replaced(Lines(1, 20), "line 18\n", "host\n"));
    EXPECT_THAT(ApplyAll().merged, ElementsAre("dir/file")) << version;
  }
}

/// It could have been written again in the moment in which the index was.
TEST_F(ApplyChangesTest, AnIndexAsNewAsTheFileIsNotBelieved) {
  Host("file", Lines(1, 20));
  Commit();
  struct stat info{};
  ASSERT_EQ(::stat((project_ + "/file").c_str(), &info), 0);
  const timespec times[2] = {info.st_mtim, info.st_mtim};
  ::utimensat(AT_FDCWD, (project_ + "/.git/index").c_str(), times, 0);
  BeginSet();
  Inside("file", Replaced(Lines(1, 20), "line 2\n", "inside\n"));
  Host("file", Replaced(Lines(1, 20), "line 18\n", "host\n"));
  EXPECT_EQ(ApplyAll().conflicts.size(), 1U);
}

TEST_F(ApplyChangesTest, TakesPathsThatAreNamedAndNoOther) {
  Host("a/one", "1");
  Host("b", "2");
  BeginSet();
  Inside("a/one", "11");
  Inside("b", "22");
  EXPECT_THAT(ApplyAll({.paths = {"./a/"}}).applied, ElementsAre("a/one"));
  EXPECT_EQ(OnHost("b"), "2");
  const Contents contents = Open();
  const auto wrong = Apply(contents, Read(contents), {.paths = {"c"}});
  ASSERT_FALSE(wrong);
  EXPECT_THAT(wrong.error().what, HasSubstr("changed nothing at 'c'"));
}

TEST_F(ApplyChangesTest, TakesHunksThatAreChosen) {
  Host("file", Lines(1, 40));
  BeginSet();
  Inside("file", Replaced(Replaced(Lines(1, 40), "line 3\n", "first\n"), "line 30\n", "second\n"));
  {
    const Contents contents = Open();
    const auto hunks = HunksOf(contents, Read(contents).changes.at(0));
    ASSERT_TRUE(hunks);
    ASSERT_EQ(hunks->hunks.size(), 2U);
    EXPECT_THAT(hunks->texts[1], HasSubstr("+second\n"));
  }
  EXPECT_TRUE(ApplyAll({.hunks = {{"file", {false, true}}}}).complete());
  EXPECT_EQ(OnHost("file"), Replaced(Lines(1, 40), "line 30\n", "second\n"));
}

TEST_F(ApplyChangesTest, ProtectedNamesAreAppliedOnlyIfTheyAreNamed) {
  Commit();
  BeginSet();
  const std::vector<std::string> names = {".git/hooks/pre-commit",
                                          ".git/config",
                                          ".gitmodules",
                                          ".envrc",
                                          ".bashrc",
                                          ".profile",
                                          ".zshrc",
                                          ".claude/settings.json",
                                          ".codex/config.toml",
                                          ".agents/x",
                                          ".mcp.json",
                                          ".vscode/tasks.json",
                                          ".idea/x",
                                          ".devcontainer/devcontainer.json",
                                          "sub/.envrc",
                                          "sub/.VSCode/x",
                                          "vendor/.git/hooks/x",
                                          ".GIT/hooks/x",
                                          ".git/Hooks/y"};
  for (const std::string& name : names) Inside(name, "hostile");
  Inside("fine", "x");
  for (const Choice& choice : {Choice{}, Choice{.paths = {"."}}}) {
    const Outcome outcome = ApplyAll(choice);
    std::vector<std::string> withheld;
    for (const Remark& each : outcome.withheld) withheld.push_back(each.path);
    for (const std::string& name : names) {
      EXPECT_THAT(withheld, ::testing::Contains(name));
      EXPECT_NE(OnHost(name), "hostile") << name;
    }
  }
  EXPECT_EQ(OnHost("fine"), "x");
  for (const std::string& name : names) {
    const Outcome outcome = ApplyAll({.paths = {name}});
    EXPECT_EQ(OnHost(name) == "hostile", outcome.conflicts.empty()) << name;
    EXPECT_EQ(OnHost(name), name == ".git/config" ? OnHost(name) : "hostile") << name;
  }
}

TEST_F(ApplyChangesTest, TheSandboxsOwnCopyOfGitsFilesIsNeverApplied) {
  Host("file", "x");
  Commit();
  BeginSet();
  const std::string head = OnHost(".git/HEAD");
  Inside(".git/HEAD", "ref: refs/heads/other\n");
  Inside(".git/index", "hostile");
  EXPECT_THAT(Letters(), IsEmpty());
  EXPECT_TRUE(ApplyAll().complete());
  EXPECT_EQ(OnHost(".git/HEAD"), head);
}

TEST_F(ApplyChangesTest, NeverWritesThroughALink) {
  Host("dir/file", "one");
  Host("other/file", "outside");
  BeginSet();
  Inside("dir/file", "hostile");
  Inside("dir/new", "hostile");
  std::filesystem::create_directory(directory_.path() + "/outside");
  WriteTo(directory_.path() + "/outside/file", "one");
  std::filesystem::remove_all(project_ + "/dir");
  std::filesystem::create_directory_symlink("../outside", project_ + "/dir");
  const Outcome outcome = ApplyAll();
  EXPECT_EQ(outcome.conflicts.size(), 2U);
  EXPECT_EQ(ReadFile(directory_.path() + "/outside/file", 100).value_or(""), "one");
  EXPECT_FALSE(std::filesystem::exists(directory_.path() + "/outside/new"));
}

TEST_F(ApplyChangesTest, LinksInTheUpperLayerAreLinksAndNothingIsReadThroughThem) {
  WriteTo(directory_.path() + "/secret", "secret");
  BeginSet();
  ASSERT_EQ(::symlink((directory_.path() + "/secret").c_str(), (upper_ + "/a").c_str()), 0);
  ASSERT_EQ(::symlink(directory_.path().c_str(), (upper_ + "/b").c_str()), 0);
  EXPECT_THAT(Letters(), ElementsAre("A a", "A b"));
  EXPECT_THAT(ApplyAll().applied, UnorderedElementsAre("a", "b"));
  EXPECT_TRUE(std::filesystem::is_symlink(project_ + "/a"));
}

TEST_F(ApplyChangesTest, NoFileBecomesSetUid) {
  Host("file", "one");
  BeginSet();
  Inside("file", "two");
  Inside("new", "three");
  ASSERT_EQ(::chmod((upper_ + "/file").c_str(), 06755), 0);
  ASSERT_EQ(::chmod((upper_ + "/new").c_str(), 04711), 0);
  EXPECT_TRUE(ApplyAll().complete());
  EXPECT_EQ(ModeOf(project_ + "/file"), 0755U);
  EXPECT_EQ(ModeOf(project_ + "/new"), 0711U);
}

TEST_F(ApplyChangesTest, FilesAndDirectoriesChangePlaces) {
  Host("a", "file");
  Host("b/c", "in a directory, and quite long");
  BeginSet();
  Inside("a/x", "y");
  Inside("b", "now a file");
  EXPECT_TRUE(ApplyAll().complete());
  EXPECT_EQ(OnHost("a/x"), "y");
  EXPECT_EQ(OnHost("b"), "now a file");
}

TEST_F(ApplyChangesTest, ADirectoryInWhichTheHostHasMoreStays) {
  Host("dir/a", "something");
  BeginSet();
  Whiteout("dir");
  Host("dir/mine", "the host's");
  EXPECT_TRUE(ApplyAll().complete());
  EXPECT_EQ(OnHost("dir/mine"), "the host's");
  EXPECT_FALSE(std::filesystem::exists(project_ + "/dir/a"));
}

}  // namespace
}  // namespace igloo::service::changes
