#include "service/changes/commits.h"

#include <fcntl.h>
#include <linux/landlock.h>
#include <sys/syscall.h>

#include <map>

#include "service/changes/git_confine.h"
#include "service/changes/testing.h"

namespace igloo::service::changes {
namespace {

using testing::ChangesTest;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class CommitsTest : public ChangesTest {
 protected:
  static int Shell(const std::string& directory, const std::string& command) {
    return std::system(("cd '" + directory +
                        "' && export HOME=/nonexistent GIT_CONFIG_NOSYSTEM=1 GIT_AUTHOR_NAME=a "
                        "GIT_AUTHOR_EMAIL=a@b GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@b && (" +
                        command + ") >'" + directory + "/../said' 2>&1")
                           .c_str());
  }
  std::string Said() const { return ReadFile(directory_.path() + "/said", 1U << 20).value_or(""); }
  std::string OfHost(const std::string& command) const {
    EXPECT_EQ(Shell(project_, command), 0) << Said();
    return Said();
  }
  void MakeRepository() {
    Host("file", "one\n");
    ASSERT_EQ(Shell(project_, "git init -q -b main && git add -A && git commit -qm base"), 0);
    BeginSet();
  }
  /// What code did in a copy of the project, as an overlay would have kept it.
  void CommitInside(const std::string& command) const {
    const std::string copy = directory_.path() + "/copy";
    std::filesystem::copy(project_, copy, std::filesystem::copy_options::recursive);
    ASSERT_EQ(Shell(copy, command), 0) << Said();
    for (const auto& each : std::filesystem::recursive_directory_iterator(copy + "/.git")) {
      const std::string path = each.path().string().substr(copy.size() + 1);
      if (!each.is_regular_file() || OnHost(path) == *ReadFile(copy + "/" + path, 1U << 20))
        continue;
      Inside(path, *ReadFile(copy + "/" + path, 1U << 20));
    }
  }
};

TEST_F(CommitsTest, ArriveAsABranchAndNothingElseChanges) {
  MakeRepository();
  const std::string head = OfHost("git rev-parse HEAD");
  CommitInside(
      "echo two > file && git commit -qam second && git branch side && "
      "git checkout -q side && echo 3 > new && git add new && git commit -qm third && "
      "git checkout -q main");
  const Contents contents = Open();
  const auto tips = NewTips(contents);
  ASSERT_TRUE(tips) << tips.error().what;
  ASSERT_THAT(*tips, SizeIs(2));
  const auto brought = BringCommits(contents, *tips);
  ASSERT_TRUE(brought) << brought.error().what;
  EXPECT_EQ(OfHost("git log --format=%s igloo/work"), "second\nbase\n");
  EXPECT_EQ(OfHost("git log --format=%s igloo/work.side"), "third\nsecond\nbase\n");
  EXPECT_EQ(OfHost("git show igloo/work:file"), "two\n");
  EXPECT_EQ(OfHost("git fsck --strict --no-dangling 2>&1"), "");
  EXPECT_EQ(OfHost("git rev-parse HEAD"), head);
  EXPECT_EQ(OfHost("git status --short"), "");
  EXPECT_THAT(*NewTips(contents), IsEmpty()) << "they are there now";
}

TEST_F(CommitsTest, OfPacksAndADetachedHeadArriveToo) {
  MakeRepository();
  CommitInside(
      "git checkout -q --detach && echo two > file && git commit -qam second && git gc -q");
  const Contents contents = Open();
  const auto tips = NewTips(contents);
  ASSERT_TRUE(tips);
  ASSERT_THAT(*tips, SizeIs(1));
  EXPECT_EQ(tips->front().branch, "HEAD");
  ASSERT_TRUE(BringCommits(contents, *tips));
  EXPECT_EQ(OfHost("git log --format=%s igloo/work"), "second\nbase\n");
}

TEST_F(CommitsTest, ABranchThatIsThereIsNotMoved) {
  MakeRepository();
  CommitInside("echo two > file && git commit -qam second");
  ASSERT_EQ(Shell(project_, "git branch igloo/work"), 0);
  const Contents contents = Open();
  const auto brought = BringCommits(contents, *NewTips(contents));
  ASSERT_FALSE(brought);
  EXPECT_THAT(brought.error().hint, HasSubstr("git branch -m igloo/work"));
  EXPECT_EQ(OfHost("git log --format=%s igloo/work"), "base\n");
}

/// The control: the same program does run where git reads such a configuration.
TEST_F(CommitsTest, NothingOfTheUpperLayersRepositoryIsRun) {
  MakeRepository();
  const std::string ran = directory_.path() + "/ran";
  WriteTo(directory_.path() + "/program", "#!/bin/sh\ntouch '" + ran + "'\n");
  ::chmod((directory_.path() + "/program").c_str(), 0755);
  const std::string program = directory_.path() + "/program";
  CommitInside("echo two > file && git commit -qam second");
  const std::string config = "[core]\n\trepositoryformatversion = 0\n\tfsmonitor = " + program +
                             "\n\thooksPath = " + directory_.path() +
                             "\n\talternateRefsCommand = " + program +
                             "\n[uploadpack]\n\tpackObjectsHook = " + program + "\n";
  Inside(".git/config", config);
  for (const char* hook : {"post-checkout", "reference-transaction", "pre-commit", "post-update"}) {
    Inside(std::string(".git/hooks/") + hook, "#!/bin/sh\ntouch '" + ran + "'\n");
    ::chmod((upper_ + "/.git/hooks/" + hook).c_str(), 0755);
  }
  Inside(".git/objects/info/alternates", directory_.path() + "/elsewhere\n");
  const Contents contents = Open();
  ASSERT_TRUE(BringCommits(contents, *NewTips(contents)));
  EXPECT_FALSE(std::filesystem::exists(ran));
  EXPECT_EQ(OfHost("git log --format=%s igloo/work"), "second\nbase\n");

  const std::string control = directory_.path() + "/copy";
  WriteTo(control + "/.git/config", config);
  (void)Shell(control, "git status");
  EXPECT_TRUE(std::filesystem::exists(ran)) << "control";
}

TEST_F(CommitsTest, ObjectsThatLieAreRefused) {
  MakeRepository();
  CommitInside("echo two > file && git commit -qam second");
  // Another content under the name of the new blob.
  const std::string object = OfHost("git hash-object --stdin <<'E'\ntwo\nE\n").substr(0, 40);
  const std::string path = ".git/objects/" + object.substr(0, 2) + "/" + object.substr(2);
  ASSERT_TRUE(std::filesystem::exists(upper_ + "/" + path));
  ASSERT_EQ(Shell(directory_.path() + "/copy", "echo evil | git hash-object -w --stdin"), 0);
  const std::string evil = Said().substr(0, 40);
  const std::string place = ".git/objects/" + evil.substr(0, 2) + "/" + evil.substr(2);
  std::filesystem::remove(upper_ + "/" + path);
  std::filesystem::copy(directory_.path() + "/copy/" + place, upper_ + "/" + path);
  const Contents contents = Open();
  EXPECT_FALSE(BringCommits(contents, *NewTips(contents)));
  EXPECT_EQ(OfHost("git branch --list 'igloo/*'"), "");
}

TEST_F(CommitsTest, LinksInTheRepositoryLeadNowhere) {
  MakeRepository();
  CommitInside("echo two > file && git commit -qam second");
  // The objects of another repository of the user's, which code inside knows the names of.
  const std::string other = directory_.path() + "/other";
  std::filesystem::create_directory(other);
  ASSERT_EQ(
      Shell(other, "git init -q -b main && echo secret > s && git add s && git commit -qm secret"),
      0);
  ASSERT_EQ(Shell(other, "git rev-parse HEAD"), 0);
  Inside(".git/refs/heads/stolen", Said());
  std::filesystem::remove_all(upper_ + "/.git/objects");
  std::filesystem::create_directory_symlink(other + "/.git/objects", upper_ + "/.git/objects");
  const Contents contents = Open();
  EXPECT_FALSE(BringCommits(contents, *NewTips(contents)));
  EXPECT_EQ(OfHost("git branch --list 'igloo/*'"), "");
}

/// Of the host's repository. The control: git itself goes through each of them.
TEST_F(CommitsTest, NothingIsWrittenThroughALinkInTheHostsRepository) {
  MakeRepository();
  CommitInside("echo two > file && git commit -qam second");
  ASSERT_EQ(Shell(project_,
                  "git checkout -q -b other && git commit -q --allow-empty -m more && "
                  "git checkout -q main"),
            0);
  const std::string outside = directory_.path() + "/outside", git = project_ + "/.git/";
  WriteTo(outside + "/log", "kept\n");
  const std::map<std::string, std::string> links = {
      {"refs/heads/igloo", outside},
      {"logs/refs/heads/igloo", outside},
      {"objects/pack", outside},
      {"refs/heads/igloo/work", outside + "/ref"},
      {"logs/refs/heads/igloo/work", outside + "/log"}};
  for (const auto& [link, target] : links) {
    const std::string place = git + link;
    const bool directory = std::filesystem::is_directory(place);
    if (directory) std::filesystem::rename(place, place + ".away");
    std::filesystem::create_directories(std::filesystem::path(place).parent_path());
    std::filesystem::create_symlink(target, place);
    const Contents contents = Open();
    const auto tips = NewTips(contents);
    const auto brought =
        tips ? BringCommits(contents, *tips) : std::unexpected(Error(tips.error()));
    ASSERT_FALSE(brought) << link;
    EXPECT_THAT(brought.error().what, HasSubstr("it is a link")) << link;
    EXPECT_EQ(ReadFile(outside + "/log", 100).value_or(""), "kept\n") << link;
    EXPECT_EQ(std::distance(std::filesystem::directory_iterator(outside), {}), 1) << link;
    if (link != "refs/heads/igloo/work") {
      (void)Shell(project_,
                  "git update-ref --create-reflog refs/heads/igloo/work other && "
                  "git repack -q -a");
      const bool written = std::distance(std::filesystem::directory_iterator(outside), {}) > 1 ||
                           ReadFile(outside + "/log", 100).value_or("") != "kept\n";
      EXPECT_TRUE(written) << "control: " << link;
      (void)Shell(project_, "git update-ref -d refs/heads/igloo/work");
    }
    std::filesystem::remove_all(outside);
    WriteTo(outside + "/log", "kept\n");
    std::filesystem::remove(place);
    if (directory) std::filesystem::rename(place + ".away", place);
  }
  const Contents contents = Open();
  EXPECT_TRUE(BringCommits(contents, *NewTips(contents))) << "without a link";
}

TEST_F(CommitsTest, ARepositoryThatLeadsElsewhereIsRefused) {
  MakeRepository();
  CommitInside("echo two > file && git commit -qam second");
  const std::string other = directory_.path() + "/other";
  std::filesystem::copy(project_, other, std::filesystem::copy_options::recursive);
  Host(".git/commondir", other + "/.git\n");
  const auto tips = NewTips(Open());
  ASSERT_FALSE(tips);
  EXPECT_THAT(tips.error().what, HasSubstr("it leads git to another repository"));
}

/// What root brings into somebody else's repository is that user's, and git has no other rights.
/// Started by an ordinary user, the repository is its own.
TEST_F(CommitsTest, RootsGitActsAsTheOwnerOfTheRepository) {
  MakeRepository();
  CommitInside("echo two > file && git commit -qam second");
  const uid_t owner = ::geteuid() == 0 ? 12399 : ::geteuid();
  std::filesystem::permissions(directory_.path(), std::filesystem::perms(0755));
  for (const auto& each : std::filesystem::recursive_directory_iterator(project_)) {
    ASSERT_EQ(::lchown(each.path().c_str(), owner, static_cast<gid_t>(-1)), 0);
  }
  ASSERT_EQ(::chown(project_.c_str(), owner, static_cast<gid_t>(-1)), 0);
  const Contents contents = Open();
  const auto tips = NewTips(contents);
  ASSERT_TRUE(tips) << tips.error().what;
  const auto brought = BringCommits(contents, *tips);
  ASSERT_TRUE(brought) << brought.error().what;
  std::size_t files = 0;
  for (const auto& each : std::filesystem::recursive_directory_iterator(project_ + "/.git")) {
    struct stat info{};
    ASSERT_EQ(::lstat(each.path().c_str(), &info), 0);
    EXPECT_EQ(info.st_uid, owner) << each.path();
    ++files;
  }
  EXPECT_GT(files, 10U);
  EXPECT_EQ(ReadFile(project_ + "/.git/refs/heads/igloo/work", 100).value_or("").size(), 41U);
}

TEST_F(CommitsTest, GitWritesToItsRepositoriesAndNowhereElse) {
  const std::string inside = directory_.path() + "/inside",
                    outside = directory_.path() + "/outside";
  std::filesystem::create_directory(inside);
  std::filesystem::create_directory(outside);
  std::filesystem::create_directory_symlink(outside, inside + "/link");
  const UniqueFd place(::open(inside.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  const auto writes = [](const std::string& path) {
    return UniqueFd(::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600)) ? "written"
                                                                                : "refused";
  };
  std::vector<std::string> seen;
  const int places[] = {place.get()};
  ASSERT_TRUE(WithWritesBeneath(places, [&]() -> Result<void> {
    seen = {writes(inside + "/a"), writes(inside + "/link/b"), writes(outside + "/c")};
    return {};
  }));
  const bool landlock =
      ::syscall(SYS_landlock_create_ruleset, nullptr, 0, LANDLOCK_CREATE_RULESET_VERSION) > 0;
  const std::string elsewhere = landlock ? "refused" : "written";
  EXPECT_THAT(seen, ::testing::ElementsAre("written", elsewhere, elsewhere));
  EXPECT_STREQ(writes(outside + "/c"), "written") << "control: this thread gave up nothing";
}

TEST_F(CommitsTest, NamesOfBranchesAreMadeSafe) {
  MakeRepository();
  CommitInside(
      "echo two > file && git commit -qam second && git branch -q 'a/b.c;d' && git checkout -q "
      "HEAD~0 && "
      "git branch -qf main HEAD~1 && git checkout -q main");
  const Contents contents = Open();
  const auto tips = NewTips(contents);
  ASSERT_TRUE(tips);
  ASSERT_THAT(*tips, SizeIs(1));
  EXPECT_EQ(tips->front().arrives_as, "igloo/work.a-b-c-d");
}

}  // namespace
}  // namespace igloo::service::changes
