// Code that writes to a project, against the igloo that applies somebody's changes to it later:
// links that the code left in the repository, and a project that belongs to somebody else than
// root.

#include <gmock/gmock.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "base/file.h"
#include "base/temp_dir.h"
#include "environment/run_policy.h"
#include "support/igloo.h"
#include "support/sandbox.h"
#include "walls.h"

namespace igloo::testing {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

constexpr const char* kGit = "git -c user.name=a -c user.email=a@b -c safe.directory='*' ";

class ApplyAttack : public ::testing::Test {
 protected:
  ApplyAttack() {
    fs::permissions(root_.path(), fs::perms(0755));
    fs::create_directory(project_);
    fs::create_directory(outside_);
    std::ofstream(project_ + "/file") << "one\n";
    EXPECT_EQ(
        Shell("git init -q -b main && git add -A && " + std::string(kGit) + "commit -qm base"), 0);
  }

  int Shell(const std::string& command) const {
    return std::system(("cd '" + project_ +
                        "' && export HOME=/nonexistent GIT_CONFIG_NOSYSTEM=1 && (" + command +
                        ") >/dev/null 2>&1")
                           .c_str());
  }
  Outcome Call(std::vector<std::string> args) const {
    Invocation invocation{.program = BinDirectory() + "/igloo", .args = std::move(args)};
    invocation.env.push_back("XDG_STATE_HOME=" + root_.path() + "/state");
    return RunProgram(invocation);
  }
  /// Code that may write to the project.
  Outcome Attack(const std::string& code) const {
    const environment::RunRequest request{
        .what = environment::Code{"cd /project && " + code},
        .project =
            environment::Project{.path = project_, .mode = environment::ProjectMode::kReadWrite}};
    return RunPlan(Wall::kJail, PlanFor("shell", request));
  }
  Outcome CommitInACopy() const {
    return Call({"run", "--env", "shell", "--project", project_ + ":overlay", "--keep", "work",
                 "cd /project && echo two > file && " + std::string(kGit) + "commit -qam second"});
  }
  std::vector<std::string> Outside() const {
    std::vector<std::string> names;
    for (const auto& each : fs::directory_iterator(outside_))
      names.push_back(each.path().filename());
    return names;
  }

  TempDir root_ = TempDir::Make(TempParent()).value();
  std::string project_ = root_.path() + "/project", outside_ = root_.path() + "/outside";
};

class ApplyThroughLinks : public ApplyAttack, public ::testing::WithParamInterface<const char*> {};

TEST_P(ApplyThroughLinks, WritesNothingWhereALinkInTheRepositoryLeads) {
  const std::string place = std::string(".git/") + GetParam();
  const Outcome committed = CommitInACopy();
  ASSERT_EQ(committed.status, 0) << committed.err;
  const Outcome attack = Attack("mkdir -p $(dirname " + place + "); rm -rf " + place + "; ln -s " +
                                outside_ + " " + place);
  ASSERT_EQ(attack.status, 0) << attack.err;
  const Outcome apply = Call({"apply", "work"});
  EXPECT_EQ(apply.out, "applied file\n") << "what is no commit is not held up";
  EXPECT_THAT(apply.err, HasSubstr("it is a link"));
  EXPECT_NE(apply.status, 0);
  EXPECT_THAT(Outside(), IsEmpty());
  (void)Shell("git checkout -q -b more; " + std::string(kGit) +
              "commit -q --allow-empty -m more; "
              "git update-ref --create-reflog refs/heads/igloo/work HEAD; git repack -qa");
  EXPECT_THAT(Outside(), Not(IsEmpty())) << "control";
}

INSTANTIATE_TEST_SUITE_P(Places, ApplyThroughLinks,
                         ::testing::Values("refs/heads/igloo", "logs/refs/heads/igloo",
                                           "objects/pack"));

/// Nothing in the project is root's afterwards: git had no rights but the owner's. Started by an
/// ordinary user, the project is that user's own.
TEST_F(ApplyAttack, RootBringsCommitsWithTheRightsOfTheOwner) {
  const Outcome committed = CommitInACopy();
  ASSERT_EQ(committed.status, 0) << committed.err;
  const uid_t owner = RunningAsRoot() ? 12399 : ::geteuid();
  for (const auto& each : fs::recursive_directory_iterator(project_)) {
    ASSERT_EQ(::lchown(each.path().c_str(), owner, static_cast<gid_t>(-1)), 0);
  }
  ASSERT_EQ(::chown(project_.c_str(), owner, static_cast<gid_t>(-1)), 0);
  const Outcome apply = Call({"apply", "work"});
  EXPECT_EQ(apply.status, 0) << apply.err;
  EXPECT_EQ(apply.out, "applied file\nbranch igloo/work\n");
  for (const auto& each : fs::recursive_directory_iterator(project_)) {
    struct stat info{};
    ASSERT_EQ(::lstat(each.path().c_str(), &info), 0);
    EXPECT_EQ(info.st_uid, owner) << each.path();
  }
  EXPECT_EQ(Shell(std::string(kGit) + "fsck --strict && test \"$(" + kGit +
                  "log -1 --format=%s igloo/work)\" = second"),
            0);
}

}  // namespace
}  // namespace igloo::testing
