#include "session/files/set_id_files.h"

#include <gmock/gmock.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "base/temp_dir.h"
#include "support/igloo.h"

namespace igloo::session {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class SetIdCheckTest : public ::testing::Test {
 protected:
  SetIdCheckTest() { fs::create_directories(project() + "/deep/er"); }

  std::string project() const { return dir_.path() + "/project"; }
  std::string Put(const std::string& path, mode_t mode) {
    std::ofstream(path) << "text";
    EXPECT_EQ(::chmod(path.c_str(), mode), 0);
    return path;
  }
  static mode_t ModeOf(const std::string& path) {
    struct stat info{};
    EXPECT_EQ(::stat(path.c_str(), &info), 0);
    return info.st_mode & 07777;
  }
  sandbox::Plan PlanWith(sandbox::Access access) const {
    sandbox::Plan plan;
    plan.run.emplace_back(
        sandbox::step::Bind{.source = project(), .target = "/project", .access = access});
    return plan;
  }

  TempDir dir_ = TempDir::Make(igloo::testing::TempParent()).value();
};

TEST_F(SetIdCheckTest, TakesTheBitsFromFilesThatChanged) {
  SetIdCheck check(PlanWith(sandbox::Access::kReadWrite));
  ASSERT_TRUE(check.needed());
  const std::string uid = Put(project() + "/uid", 04755);
  const std::string gid = Put(project() + "/deep/er/gid", 02711);
  const std::string hidden = Put(project() + "/.hidden", 06111);
  const std::string plain = Put(project() + "/plain", 01755);
  EXPECT_EQ(check.Finish().size(), 3U);
  EXPECT_EQ(ModeOf(uid), 0755U);
  EXPECT_EQ(ModeOf(gid), 0711U);
  EXPECT_EQ(ModeOf(hidden), 0111U);
  EXPECT_EQ(ModeOf(plain), 01755U) << "it is none";
}

TEST_F(SetIdCheckTest, LeavesFilesAloneThatDidNotChange) {
  const std::string old = Put(project() + "/old", 04755);
  // Times of files have the grain of the kernel's clock: until it has moved on.
  struct stat info{};
  ASSERT_EQ(::stat(old.c_str(), &info), 0);
  timespec now{};
  do {
    ::clock_gettime(CLOCK_REALTIME_COARSE, &now);
  } while (now.tv_sec == info.st_ctim.tv_sec && now.tv_nsec <= info.st_ctim.tv_nsec);
  SetIdCheck check(PlanWith(sandbox::Access::kReadWrite));
  EXPECT_THAT(check.Finish(), IsEmpty());
  EXPECT_EQ(ModeOf(old), 04755U);
}

TEST_F(SetIdCheckTest, FollowsNoLinkAndLeavesDirectories) {
  fs::create_directory(dir_.path() + "/elsewhere");
  SetIdCheck check(PlanWith(sandbox::Access::kReadWrite));
  const std::string outside = Put(dir_.path() + "/elsewhere/outside", 04755);
  fs::create_symlink(outside, project() + "/link");
  fs::create_directory_symlink(dir_.path() + "/elsewhere", project() + "/directory");
  ASSERT_EQ(::chmod((project() + "/deep").c_str(), 02755), 0);
  EXPECT_THAT(check.Finish(), IsEmpty());
  EXPECT_EQ(ModeOf(outside), 04755U);
  EXPECT_EQ(ModeOf(project() + "/deep"), 02755U);
}

TEST_F(SetIdCheckTest, IsNothingForProjectsThatCannotBeWritten) {
  SetIdCheck check(PlanWith(sandbox::Access::kReadOnly));
  EXPECT_FALSE(check.needed());
  const std::string uid = Put(project() + "/uid", 04755);
  EXPECT_THAT(check.Finish(), IsEmpty());
  EXPECT_EQ(ModeOf(uid), 04755U);
}

TEST_F(SetIdCheckTest, SaysWhatItDidWithNamesThatPrint) {
  SetIdCheck check(PlanWith(sandbox::Access::kReadWrite));
  Put(project() + "/a\x1b[31m", 04755);
  EXPECT_THAT(check.Finish(),
              ElementsAre(AllOf(HasSubstr("no longer"), ::testing::Not(HasSubstr("\x1b")))));
}

TEST_F(SetIdCheckTest, ATreeThatCannotBeOpenedIsSaidToBeMissed) {
  const sandbox::Plan plan = PlanWith(sandbox::Access::kReadWrite);
  fs::rename(project(), dir_.path() + "/away");
  SetIdCheck check(plan);
  EXPECT_TRUE(check.needed());
  EXPECT_THAT(check.Finish(),
              ElementsAre(AllOf(HasSubstr(project()), HasSubstr("was not looked at"),
                                HasSubstr("No such file"), HasSubstr("find -perm"))));
  EXPECT_FALSE(check.needed()) << "it is said once";
}

TEST_F(SetIdCheckTest, ATreeMayBeOneFile) {
  sandbox::Plan plan;
  const std::string file = Put(project() + "/file", 0755);
  plan.run.emplace_back(sandbox::step::Bind{
      .source = file, .target = "/file", .access = sandbox::Access::kReadWrite});
  SetIdCheck check(plan);
  Put(file, 04755);
  EXPECT_THAT(check.Finish(), ElementsAre(HasSubstr("no longer")));
  EXPECT_EQ(ModeOf(file), 0755U);
}

TEST_F(SetIdCheckTest, IsBoundedAndSaysSo) {
  SetIdCheck check(PlanWith(sandbox::Access::kReadWrite));
  for (int i = 0; i < 30; ++i) Put(project() + "/" + std::to_string(i), 04755);
  const auto said = check.Finish({.entries = 20, .named = 3});
  ASSERT_EQ(said.size(), 5U);
  EXPECT_THAT(said[3], HasSubstr("more files"));
  EXPECT_THAT(said[4], HasSubstr("find -perm"));
}

}  // namespace
}  // namespace igloo::session
