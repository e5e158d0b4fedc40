#include "base/replace_file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cerrno>
#include <filesystem>

#include "base/file.h"
#include "base/temp_dir.h"

namespace igloo {
namespace {

std::size_t EntriesOf(const std::string& directory) {
  return static_cast<std::size_t>(
      std::distance(std::filesystem::directory_iterator(directory), {}));
}

TEST(ReplaceFileTest, WritesAndReplacesForTheOwnerAlone) {
  const auto dir = TempDir::Make(::testing::TempDir());
  ASSERT_TRUE(dir);
  const std::string path = dir->path() + "/f";
  ASSERT_TRUE(ReplaceFile(path, "one"));
  ASSERT_TRUE(ReplaceFile(path, "two"));
  EXPECT_EQ(ReadFile(path, 10), "two");
  struct stat info{};
  ASSERT_EQ(::stat(path.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 07777, 0600U);
  EXPECT_EQ(EntriesOf(dir->path()), 1U) << "no temporary file stays";
}

TEST(ReplaceFileTest, ReplacesALinkAndNotWhatItPointsTo) {
  const auto dir = TempDir::Make(::testing::TempDir());
  ASSERT_TRUE(dir);
  ASSERT_TRUE(ReplaceFile(dir->path() + "/victim", "old"));
  std::filesystem::create_symlink("victim", dir->path() + "/link");
  ASSERT_TRUE(ReplaceFile(dir->path() + "/link", "new"));
  EXPECT_EQ(ReadFile(dir->path() + "/victim", 10), "old");
  EXPECT_EQ(ReadFile(dir->path() + "/link", 10), "new");
}

TEST(ReplaceFileTest, GivesTheModeThatItIsTold) {
  const auto dir = TempDir::Make(::testing::TempDir());
  ASSERT_TRUE(dir);
  const std::string path = dir->path() + "/f";
  struct stat info{};
  ASSERT_TRUE(ReplaceFile(path, "one", {.mode = 0640}));
  ASSERT_EQ(::stat(path.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 07777, 0640U);
  const FileAttributes::Owner owner{info.st_uid, info.st_gid};
  ASSERT_TRUE(ReplaceFile(path, "two", {.mode = 0444, .owner = owner}));
  ASSERT_EQ(::stat(path.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 07777, 0444U);
  EXPECT_EQ(info.st_uid, owner.user);
}

TEST(ReplaceFileTest, AFailureLeavesNothingBehind) {
  const auto dir = TempDir::Make(::testing::TempDir());
  ASSERT_TRUE(dir);
  EXPECT_EQ(ReplaceFile(dir->path() + "/none/f", "x").error().sys_errno, ENOENT);
  std::filesystem::create_directory(dir->path() + "/d");
  EXPECT_EQ(ReplaceFile(dir->path() + "/d", "x").error().sys_errno, EISDIR);
  EXPECT_EQ(EntriesOf(dir->path()), 1U) << "only the directory that was in the way";
}

}  // namespace
}  // namespace igloo
