#include "session/files/workspace.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "base/file.h"
#include "base/temp_dir.h"

namespace igloo::session {
namespace {

using ::testing::HasSubstr;

class WorkspaceTest : public ::testing::Test {
 protected:
  WorkspaceTest()
      : temp_(TempDir::Make(::testing::TempDir()).value()), root_(temp_.path() + "/root") {
    std::filesystem::create_directory(root_);
    std::ofstream(temp_.path() + "/outside") << "outside";
    directory_ = UniqueFd(::open(root_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  }
  Result<Stamp> Write(const std::string& path, const std::string& content) {
    return WriteBelow(directory_.get(), {.path = path, .content = content});
  }
  Result<std::string> Read(const std::string& path, std::uint64_t most = 1000) {
    return ReadBelow(directory_.get(), path, most);
  }
  std::string At(const std::string& path) const { return root_ + "/" + path; }
  std::size_t CountIn(const std::string& path) const {
    return static_cast<std::size_t>(std::distance(std::filesystem::directory_iterator(path), {}));
  }

  TempDir temp_;
  std::string root_;
  UniqueFd directory_ = {};
};

TEST_F(WorkspaceTest, WhatIsWrittenIsRead) {
  const auto stamp = Write("a/b/c.txt", "one");
  ASSERT_TRUE(stamp) << stamp.error().what;
  EXPECT_EQ(Read("a/b/c.txt").value(), "one");
  EXPECT_EQ(SizeBelow(directory_.get(), "a/b/c.txt").value(), 3U);
  struct stat info{};
  ASSERT_EQ(::stat(At("a/b/c.txt").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777U, 0644U);
  EXPECT_EQ(StampOf(info), *stamp);
  ASSERT_TRUE(Write("a/b/c.txt", "another"));
  EXPECT_EQ(Read("a/b/c.txt").value(), "another");
  EXPECT_EQ(CountIn(At("a/b")), 1U) << "nothing else is left";
}

TEST_F(WorkspaceTest, LinksAreReplacedAndNeverFollowed) {
  std::filesystem::create_symlink("../outside", At("link"));
  std::filesystem::create_symlink("..", At("up"));
  EXPECT_FALSE(Read("link"));
  EXPECT_FALSE(Read("up/outside"));
  EXPECT_FALSE(Read("../outside"));
  EXPECT_FALSE(Write("up/new", "x"));
  EXPECT_FALSE(std::filesystem::exists(temp_.path() + "/new"));
  ASSERT_TRUE(Write("link", "inside"));
  EXPECT_EQ(Read("link").value(), "inside");
  EXPECT_EQ(ReadFile(temp_.path() + "/outside", 100).value(), "outside");
}

TEST_F(WorkspaceTest, WhatIsNoFileNeitherBlocksNorIsRead) {
  ASSERT_EQ(::mkfifo(At("fifo").c_str(), 0600), 0);
  ASSERT_EQ(::mkdir(At("directory").c_str(), 0700), 0);
  EXPECT_EQ(Read("fifo").error().code, Errc::kNotFound);
  EXPECT_EQ(Read("directory").error().code, Errc::kNotFound);
  EXPECT_EQ(Read("missing").error().code, Errc::kNotFound);
  EXPECT_THAT(Write("directory", "x").error().hint, HasSubstr("another name"));
  EXPECT_THAT(Write("fifo/x", "x").error().hint, HasSubstr("another name"));
  ASSERT_TRUE(Write("fifo", "now a file"));
  EXPECT_EQ(Read("fifo").value(), "now a file");
  EXPECT_EQ(CountIn(root_), 2U) << "nothing is left of what could not be written";
}

TEST_F(WorkspaceTest, WhatIsTooLargeIsRefusedWithItsSize) {
  ASSERT_TRUE(Write("large", std::string(1001, 'x')));
  const auto read = Read("large");
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().code, Errc::kExhausted);
  EXPECT_THAT(read.error().what, HasSubstr("'large' has 1001 bytes"));
}

TEST_F(WorkspaceTest, FilesBelongToTheOwnerOfTheDirectory) {
  // Root stands for others; everybody else is the owner already.
  const uid_t owner = ::geteuid() == 0 ? 4242 : ::geteuid();
  const gid_t group = ::geteuid() == 0 ? 4343 : ::getegid();
  ASSERT_EQ(::chown(root_.c_str(), owner, group), 0);
  ASSERT_TRUE(Write("deep/file", "x"));
  for (const char* path : {"deep", "deep/file"}) {
    struct stat info{};
    ASSERT_EQ(::stat(At(path).c_str(), &info), 0);
    EXPECT_EQ(info.st_uid, owner) << path;
    EXPECT_EQ(info.st_gid, group) << path;
  }
  // And afterwards this thread is itself again.
  std::ofstream(temp_.path() + "/mine") << "x";
  struct stat info{};
  ASSERT_EQ(::stat((temp_.path() + "/mine").c_str(), &info), 0);
  EXPECT_EQ(info.st_uid, ::geteuid());
}

}  // namespace
}  // namespace igloo::session
