#include "service/changes/apply.h"

#include <fcntl.h>
#include <sys/statvfs.h>

#include <map>

#include "service/changes/copy_bytes.h"
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

TEST_F(ApplyChangesTest, OneFileThatCannotBeReadLeavesTheOthers) {
  Host("closed", "x");
  BeginSet();
  Inside("closed", "y");
  Inside("fine", "z");
  ASSERT_EQ(::chmod((upper_ + "/closed").c_str(), 0), 0);
  const Outcome outcome = ApplyAll();
  EXPECT_EQ(OnHost("fine"), "z");
  if (::geteuid() == 0) {  // reads everything
    EXPECT_THAT(outcome.applied, UnorderedElementsAre("closed", "fine"));
  } else {
    EXPECT_THAT(outcome.applied, ElementsAre("fine"));
    ASSERT_EQ(outcome.refused.size(), 1U);
    EXPECT_EQ(outcome.refused.front().path, "closed");
    EXPECT_EQ(OnHost("closed"), "x");
  }
}

TEST_F(ApplyChangesTest, WhatASparseFileDoesNotHoldTakesNoRoom) {
  BeginSet();
  Inside("big", "begin");
  const std::string place = upper_ + "/big";
  constexpr off_t kSize = off_t{1} << 40;
  ASSERT_EQ(::truncate(place.c_str(), kSize), 0);
  {
    const UniqueFd file(::open(place.c_str(), O_WRONLY | O_CLOEXEC));
    ASSERT_EQ(::pwrite(file.get(), "middle", 6, kSize / 2), 6);
  }
  EXPECT_THAT(ApplyAll().applied, ElementsAre("big"));
  struct stat info{};
  ASSERT_EQ(::stat((project_ + "/big").c_str(), &info), 0);
  EXPECT_EQ(info.st_size, kSize);
  EXPECT_LT(info.st_blocks * 512, 1 << 20);
  const UniqueFd file(::open((project_ + "/big").c_str(), O_RDONLY | O_CLOEXEC));
  char text[6];
  ASSERT_EQ(::pread(file.get(), text, 6, kSize / 2), 6);
  EXPECT_EQ(std::string_view(text, 6), "middle");
  ASSERT_EQ(::pread(file.get(), text, 5, 0), 5);
  EXPECT_EQ(std::string_view(text, 5), "begin");
}

TEST_F(ApplyChangesTest, MoreThanTheDiskHoldsIsRefusedBeforeAnythingIsWritten) {
  BeginSet();
  Inside("big", std::string(16U << 20, 'x'));
  const Contents contents = Open();
  struct statvfs disk{};
  ASSERT_EQ(::fstatvfs(contents.project().fd(), &disk), 0);
  // Twice as much: others use the disk, too.
  const std::size_t times = (disk.f_bavail * disk.f_frsize >> 23) + 2;
  const std::vector<Operation> operations(times, {.path = "big"});
  const auto room = CheckRoom(contents.project(), contents.upper(), operations);
  ASSERT_FALSE(room);
  EXPECT_THAT(room.error().what, HasSubstr("the project's disk has"));
  EXPECT_TRUE(CheckRoom(contents.project(), contents.upper(), {operations.front()})) << "control";
}

/// While root works, the owner of the project puts a directory of root's in the place of its own.
/// Started by an ordinary user there is nobody else: the control, in which the file arrives.
TEST_F(ApplyChangesTest, RootWritesInAForeignProjectWithTheRightsOfItsOwner) {
  const bool root = ::geteuid() == 0;
  Host("dir/file", "one");
  Host("roots/file", "one");
  Host("other", "root's");
  if (root) {
    for (const char* each : {"", "/dir", "/dir/file"}) {
      ASSERT_EQ(::chown((project_ + each).c_str(), 12399, 12399), 0);
    }
  }
  BeginSet();
  Inside("dir/new", "hostile");
  Inside("dir/fresh/file", "hostile");
  Inside("other", "changed");
  Inside("fine", "fine");
  const Contents contents = Open();
  bool exchanged = false;
  const auto outcome = Apply(contents, Read(contents), {}, [&](std::string_view step) {
    if (step != "move" || exchanged) return;
    exchanged = true;
    std::filesystem::rename(project_ + "/dir", project_ + "/away");
    std::filesystem::rename(project_ + "/roots", project_ + "/dir");
  });
  ASSERT_TRUE(outcome) << outcome.error().what;
  EXPECT_TRUE(exchanged);
  struct stat info{};
  ASSERT_EQ(::stat((project_ + "/dir").c_str(), &info), 0);
  EXPECT_EQ(info.st_uid, ::geteuid()) << "root's stays root's";
  EXPECT_EQ(OnHost("dir/new"), root ? "(nothing)" : "hostile");
  EXPECT_EQ(OnHost("dir/fresh/file"), root ? "(nothing)" : "hostile");
  EXPECT_EQ(OnHost("other"), root ? "root's" : "changed") << "a file of root's in the project";
  EXPECT_EQ(outcome->refused.size(), root ? 1U : 0U);
  EXPECT_EQ(OnHost("fine"), "fine");
  ASSERT_EQ(::stat((project_ + "/fine").c_str(), &info), 0);
  EXPECT_EQ(info.st_uid, root ? 12399 : ::geteuid());
}

/// By data: each of these some program obeys without a question.
TEST_F(ApplyChangesTest, NamesThatToolsObeyAreProtected) {
  BeginSet();
  const std::vector<std::string> names = {".devcontainer.json",
                                          ".cursor/mcp.json",
                                          ".kiro/settings/mcp.json",
                                          ".roo/mcp.json",
                                          ".amazonq/mcp.json",
                                          ".junie/mcp.json",
                                          ".factory/mcp.json",
                                          ".qwen/settings.json",
                                          ".windsurf/mcp.json",
                                          "opencode.json",
                                          ".opencode.json",
                                          ".crush.json",
                                          ".aider.conf.yml",
                                          ".zed/settings.json",
                                          ".vs/tasks.vs.json",
                                          ".fleet/run.json",
                                          "sub/x.code-workspace",
                                          "sub/Y.Code-Workspace",
                                          ".cargo/config.toml",
                                          ".mise.toml",
                                          "mise.toml",
                                          ".exrc",
                                          ".nvim.lua",
                                          ".lvimrc",
                                          ".dir-locals.el",
                                          ".gdbinit",
                                          ".zlogout",
                                          ".yarnrc.yml",
                                          ".pre-commit-config.yaml",
                                          ".husky/pre-commit",
                                          ".hg/hgrc",
                                          "sub/.config/mise/x.toml"};
  for (const std::string& name : names) Inside(name, "hostile");
  const std::vector<std::string> fine = {".cargo/registry", "code-workspace/x", "mise.toml.md",
                                         "x.hg/hgrc", ".config/other"};
  for (const std::string& name : fine) Inside(name, "x");
  (void)ApplyAll();
  for (const std::string& name : names) EXPECT_EQ(OnHost(name), "(nothing)") << name;
  for (const std::string& name : fine) EXPECT_EQ(OnHost(name), "x") << name;
  for (const std::string& name : names) (void)ApplyAll({.paths = {name}});
  for (const std::string& name : names) EXPECT_EQ(OnHost(name), "hostile") << "if it is named";
}

TEST_F(ApplyChangesTest, WhatTheConfigurationOfGitNamesIsProtected) {
  for (const char* name :
       {"checks/pre-commit", "tools/watch", "clean.sh", "shared.conf", "more/f"}) {
    Host(name, "before");
  }
  Host("shared.conf", "[include]\n\tpath = more/config\n[core]\n  fsmonitor = tools/watch\n");
  Host("more/config", "[diff \"x\"] textconv = ./tools/show\n");
  Commit();
  Git("config core.hooksPath checks");
  Git("config filter.x.clean 'sh clean.sh %f'");
  Git("config include.path ../shared.conf");
  Git("config branch.main.remote fine");
  BeginSet();
  const std::vector<std::string> names = {"checks/pre-commit", "checks/new",  "tools/watch",
                                          "clean.sh",          "shared.conf", "more/config",
                                          "tools/show"};
  for (const std::string& name : names) Inside(name, "hostile");
  const std::vector<std::string> fine = {"fine", "more/f", "tools/other", "checks.md",
                                         "sub/clean.sh"};
  for (const std::string& name : fine) Inside(name, "x");
  const Outcome outcome = ApplyAll();
  for (const std::string& name : names) EXPECT_NE(OnHost(name), "hostile") << name;
  for (const std::string& name : fine) EXPECT_EQ(OnHost(name), "x") << name;
  EXPECT_EQ(outcome.withheld.size(), names.size());
  (void)ApplyAll({.paths = {"checks"}});
  EXPECT_EQ(OnHost("checks/new"), "hostile");
}

TEST_F(ApplyChangesTest, ADirectoryThatBecomesARepositoryIsProtected) {
  Host("half/HEAD", "ref: refs/heads/main\n");
  Host("half/objects/x", "x");
  BeginSet();
  for (const char* name :
       {"bare/HEAD", "bare/config", "bare/objects/x", "bare/refs/x", "half/refs/x", "half/config",
        "tree/HEAD", "tree/commondir", "HEAD", "objects/x", "refs/x"}) {
    Inside(name, "hostile");
  }
  Inside("data/HEAD", "x");
  Inside("data/objects/x", "x");
  Inside("file", "x");
  (void)ApplyAll();
  EXPECT_EQ(OnHost("bare/config"), "(nothing)");
  EXPECT_EQ(OnHost("half/refs/x"), "(nothing)");
  EXPECT_EQ(OnHost("half/config"), "(nothing)");
  EXPECT_EQ(OnHost("tree/commondir"), "(nothing)");
  EXPECT_EQ(OnHost("refs/x"), "(nothing)");
  EXPECT_EQ(OnHost("data/HEAD"), "x");
  EXPECT_EQ(OnHost("file"), "x");
  (void)ApplyAll({.paths = {"bare"}});
  EXPECT_EQ(OnHost("bare/config"), "hostile");
}

TEST_F(ApplyChangesTest, LinksToWhatIsProtectedAreProtectedAndAllSayWhereTheyLead) {
  Commit();
  BeginSet();
  const std::map<std::string, std::string> links = {
      {"hooks", ".git/hooks"}, {"docs", "./sub/../.git"}, {"settings", ".vscode"},
      {".hg", "other"},        {"fine", "file"},          {"far", "/etc/passwd"}};
  for (const auto& [name, target] : links) {
    ASSERT_EQ(::symlink(target.c_str(), (upper_ + "/" + name).c_str()), 0);
  }
  for (const Change& each : Read(Open()).changes) EXPECT_EQ(each.link, links.at(each.path));
  EXPECT_THAT(ApplyAll().applied, UnorderedElementsAre("fine", "far"));
  EXPECT_THAT(ApplyAll({.paths = {"docs"}}).applied, ElementsAre("docs"));
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
