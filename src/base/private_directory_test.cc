#include "base/private_directory.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/scope_exit.h"
#include "base/temp_dir.h"

namespace igloo {
namespace {

using ::testing::HasSubstr;

class PrivateDirectory : public ::testing::Test {
 protected:
  std::string Path(const std::string& name) const { return top_.path() + "/" + name; }
  static mode_t ModeOf(const std::string& path) {
    struct stat info{};
    EXPECT_EQ(::lstat(path.c_str(), &info), 0) << path;
    return info.st_mode & 07777;
  }
  static void ExpectRefused(const Result<UniqueFd>& opened, const std::string& hint) {
    ASSERT_FALSE(opened);
    EXPECT_EQ(opened.error().code, Errc::kPermissionDenied) << opened.error().what;
    EXPECT_THAT(opened.error().hint, HasSubstr(hint));
  }

  TempDir top_ = TempDir::Make("/tmp").value();
};

TEST_F(PrivateDirectory, IsClosedToOthersWhateverTheUmask) {
  for (const mode_t mask : {0U, 022U, 077U, 0777U}) {
    const mode_t before = ::umask(mask);
    const ScopeExit restore([&] { ::umask(before); });
    const std::string name = std::to_string(mask);
    const auto opened = OpenPrivateDirectory(Path(name + "/a/b"));
    ASSERT_TRUE(opened) << opened.error().what;
    for (const char* each : {"", "/a", "/a/b"}) EXPECT_EQ(ModeOf(Path(name + each)), 0700U) << mask;
  }
}

TEST_F(PrivateDirectory, ThatOthersCouldReadIsClosedNow) {
  ASSERT_EQ(::mkdir(Path("old").c_str(), 0755), 0);
  EXPECT_TRUE(OpenPrivateDirectory(Path("old")));
  EXPECT_EQ(ModeOf(Path("old")), 0700U);
}

TEST_F(PrivateDirectory, ThatOthersCouldWriteToIsRefusedWithTheFix) {
  ASSERT_EQ(::mkdir(Path("open").c_str(), 0700), 0);
  for (const mode_t mode : {0770U, 0707U, 01777U}) {
    ASSERT_EQ(::chmod(Path("open").c_str(), mode), 0);
    ExpectRefused(OpenPrivateDirectory(Path("open")), "chmod 700");
    ExpectRefused(OpenPrivateDirectory(Path("open/below"), OwnLevels::kTwo), "chmod 700");
    EXPECT_EQ(ModeOf(Path("open")), mode) << "its user decides";
  }
}

TEST_F(PrivateDirectory, OfAnotherUserIsRefused) {
  if (::geteuid() != 0) {
    // Whoever is not root cannot give a directory away; in a namespace, even "/" may be one's own.
    for (const char* place : {"/", "/proc", "/usr"}) {
      struct stat info{};
      if (::stat(place, &info) != 0 || info.st_uid == ::geteuid()) continue;
      return ExpectRefused(OpenPrivateDirectory(place), "directories of your own");
    }
    GTEST_SKIP() << "everything here is this user's";
  }
  ASSERT_EQ(::mkdir(Path("theirs").c_str(), 0700), 0);
  ASSERT_EQ(::chown(Path("theirs").c_str(), 12345, 12345), 0);
  ExpectRefused(OpenPrivateDirectory(Path("theirs")), "directories of your own");
  ASSERT_EQ(::mkdir(Path("mine").c_str(), 0700), 0);
  ASSERT_EQ(::symlink(Path("mine").c_str(), Path("link").c_str()), 0);
  EXPECT_TRUE(OpenPrivateDirectory(Path("link"))) << "a link of one's own is fine";
  ASSERT_EQ(::lchown(Path("link").c_str(), 12345, 12345), 0);
  ExpectRefused(OpenPrivateDirectory(Path("link")), "remove the link");
}

TEST_F(PrivateDirectory, LockFileIsLockedOnce) {
  const mode_t before = ::umask(0);
  auto lock = LockPrivateFile(Path("lock"));
  ::umask(before);
  ASSERT_TRUE(lock) << lock.error().what;
  EXPECT_EQ(ModeOf(Path("lock")), 0600U);
  const auto second = LockPrivateFile(Path("lock"));
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, Errc::kFailedPrecondition);
  EXPECT_NE(second.error().hint, "");
  lock->Reset();
  EXPECT_TRUE(LockPrivateFile(Path("lock")));
}

TEST_F(PrivateDirectory, LockFileThatOthersCanOpenIsRefused) {
  ASSERT_TRUE(LockPrivateFile(Path("lock")));
  ASSERT_EQ(::chmod(Path("lock").c_str(), 0644), 0);
  ExpectRefused(LockPrivateFile(Path("lock")), "remove it");
  ASSERT_EQ(::symlink(Path("lock").c_str(), Path("link").c_str()), 0);
  EXPECT_FALSE(LockPrivateFile(Path("link")));
}

}  // namespace
}  // namespace igloo
