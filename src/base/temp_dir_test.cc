#include "base/temp_dir.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <optional>

namespace igloo {
namespace {

namespace fs = std::filesystem;

TempDir MakeDir(const std::string& parent = ::testing::TempDir()) {
  auto made = TempDir::Make(parent);
  EXPECT_TRUE(made) << made.error().what;
  return *std::move(made);
}

TEST(TempDirTest, IsPrivateAndBelowItsParent) {
  const TempDir dir = MakeDir();
  struct stat info{};
  ASSERT_EQ(::stat(dir.path().c_str(), &info), 0);
  EXPECT_EQ(info.st_mode, static_cast<mode_t>(S_IFDIR | 0700));
  EXPECT_TRUE(dir.path().starts_with(::testing::TempDir())) << dir.path();
}

TEST(TempDirTest, TwoAreNeverTheSame) { EXPECT_NE(MakeDir().path(), MakeDir().path()); }

TEST(TempDirTest, GoesWithAllItHolds) {
  std::string path;
  {
    const TempDir dir = MakeDir();
    path = dir.path();
    fs::create_directories(path + "/a/b");
    std::ofstream(path + "/a/b/file") << "x";
    ASSERT_TRUE(fs::exists(path + "/a/b/file"));
  }
  EXPECT_FALSE(fs::exists(path));
}

TEST(TempDirTest, LinksAreRemovedAndNotFollowed) {
  const TempDir bystander = MakeDir();
  std::ofstream(bystander.path() + "/file") << "x";
  {
    const TempDir dir = MakeDir();
    fs::create_directory_symlink(bystander.path(), dir.path() + "/link");
  }
  EXPECT_TRUE(fs::exists(bystander.path() + "/file"));
}

TEST(TempDirTest, MovingMovesTheDuty) {
  const TempDir outer = MakeDir();
  std::optional<TempDir> first = MakeDir(outer.path());
  const std::string path = first->path();
  {
    const TempDir second = *std::move(first);
    first.reset();
    EXPECT_TRUE(fs::exists(path)) << "the empty one removed nothing";
  }
  EXPECT_FALSE(fs::exists(path));
}

TEST(TempDirTest, AssigningRemovesTheOldOne) {
  TempDir first = MakeDir();
  TempDir second = MakeDir();
  const std::string old_path = first.path();
  const std::string new_path = second.path();
  first = std::move(second);
  EXPECT_FALSE(fs::exists(old_path));
  EXPECT_TRUE(fs::exists(new_path));
  EXPECT_EQ(first.path(), new_path);
}

TEST(TempDirTest, AMissingParentIsAnError) {
  EXPECT_EQ(TempDir::Make("/nonexistent").error(),
            (Error{.code = Errc::kNotFound,
                   .what = "cannot make a directory in '/nonexistent': No such file or directory",
                   .sys_errno = ENOENT}));
}

}  // namespace
}  // namespace igloo
