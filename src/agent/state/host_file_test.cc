#include "agent/state/host_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "agent/state/testing.h"

namespace igloo::agent {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
constexpr std::size_t kLimit = 1000;

class HostFiles : public StateTest {
 protected:
  std::string At(const std::string& name) const { return home_ + "/" + name; }
};

TEST_F(HostFiles, AReplacedFileKeepsModeAndOwnerAndLeavesNothingBeside) {
  Write("f", "old");
  fs::permissions(At("f"), fs::perms(0640));
  if (::geteuid() == 0) ASSERT_EQ(::chown(At("f").c_str(), 0, 12345), 0);
  const auto file = ReadHostFile(At("f"), kLimit);
  ASSERT_TRUE(file) << file.error().what;
  EXPECT_EQ(file->text, "old");
  const auto written = WriteHostFile(*file, "new");
  ASSERT_TRUE(written) << written.error().what;
  EXPECT_EQ(Read("f"), "new");
  struct stat info{};
  ASSERT_EQ(::stat(At("f").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 07777U, 0640U);
  EXPECT_EQ(info.st_gid, ::geteuid() == 0 ? 12345U : ::getegid());
  EXPECT_FALSE(fs::exists(PreparedName(At("f"))));
}

TEST_F(HostFiles, ANewFileIsForItsOwnerAloneAndItsDirectoryIsMade) {
  const auto file = ReadHostFile(At("dir/f"), kLimit);
  ASSERT_TRUE(file) << file.error().what;
  EXPECT_EQ(file->text, std::nullopt);
  ASSERT_TRUE(WriteHostFile(*file, "new"));
  EXPECT_EQ(fs::status(At("dir/f")).permissions(), fs::perms(0600));
  EXPECT_EQ(fs::status(At("dir")).permissions(), fs::perms(0700));
}

TEST_F(HostFiles, TheFileBehindALinkIsReplacedAndTheLinkStays) {
  Write("dotfiles/claude.json", "old");
  fs::create_symlink("dotfiles/claude.json", At("f"));
  const auto file = ReadHostFile(At("f"), kLimit);
  ASSERT_TRUE(file);
  ASSERT_TRUE(WriteHostFile(*file, "new"));
  EXPECT_TRUE(fs::is_symlink(At("f")));
  EXPECT_EQ(Read("dotfiles/claude.json"), "new");
}

TEST_F(HostFiles, WhatIsNotTheUsersOwnFileIsRefused) {
  fs::create_symlink("nothing", At("dangling"));
  fs::create_symlink("loop", At("loop"));
  fs::create_directories(At("directory"));
  ASSERT_EQ(::mkfifo(At("pipe").c_str(), 0600), 0);
  fs::create_symlink("/etc/passwd", At("foreign"));
  Write("large", std::string(kLimit + 1, 'x'));
  for (const char* name : {"dangling", "loop", "directory", "pipe", "large"}) {
    EXPECT_FALSE(ReadHostFile(At(name), kLimit)) << name;
  }
  if (::geteuid() == 0) {
    Write("foreign-file", "x");
    ASSERT_EQ(::chown(At("foreign-file").c_str(), 12345, 12345), 0);
    EXPECT_FALSE(ReadHostFile(At("foreign-file"), kLimit));
  } else {
    EXPECT_FALSE(ReadHostFile(At("foreign"), 1U << 20));
  }
}

TEST_F(HostFiles, AFileThatSomebodyElseChangedIsLeftAlone) {
  Write("f", "old");
  const auto file = ReadHostFile(At("f"), kLimit);
  for (const char* other : {"other", "newer than this"}) {
    Write("f", other);
    const auto written = WriteHostFile(*file, "new");
    ASSERT_FALSE(written);
    EXPECT_EQ(written.error().code, Errc::kFailedPrecondition);
    EXPECT_EQ(Read("f"), other);
  }
  fs::remove(At("f"));
  EXPECT_FALSE(WriteHostFile(*file, "new"));
  const auto absent = ReadHostFile(At("f"), kLimit);
  Write("f", "appeared");
  EXPECT_FALSE(WriteHostFile(*absent, "new"));
  EXPECT_EQ(Read("f"), "appeared");
}

TEST_F(HostFiles, ALinkThatAppearsInThePathIsNotFollowed) {
  Write("dir/f", "old");
  Write("other/f", "old");
  const auto file = ReadHostFile(At("dir/f"), kLimit);
  fs::rename(At("dir"), At("moved"));
  fs::create_directory_symlink("other", At("dir"));
  EXPECT_FALSE(WriteHostFile(*file, "new"));
  EXPECT_EQ(Read("other/f"), "old");
}

}  // namespace
}  // namespace igloo::agent
