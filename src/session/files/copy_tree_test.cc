#include "session/files/copy_tree.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <thread>

#include "base/file.h"
#include "base/temp_dir.h"
#include "base/unique_fd.h"

namespace igloo::session {
namespace {

namespace fs = std::filesystem;

class CopyTreeTest : public ::testing::Test {
 protected:
  CopyTreeTest() : temp_(TempDir::Make(::testing::TempDir()).value()) {
    fs::create_directory(From(""));
    fs::create_directory(To(""));
    std::ofstream(temp_.path() + "/outside") << "outside";
  }
  std::string From(const std::string& name) const { return temp_.path() + "/from/" + name; }
  std::string To(const std::string& name) const { return temp_.path() + "/to/" + name; }
  static std::string Read(const std::string& path) {
    return ReadFile(path, 1U << 20).value_or("?");
  }
  Result<CopiedTree> Copy() const {
    const UniqueFd from(::open(From("").c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    const UniqueFd to(::open(To("").c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    return CopyTree(from.get(), to.get());
  }
  static mode_t ModeOf(const std::string& path) {
    struct stat info{};
    return ::lstat(path.c_str(), &info) == 0 ? info.st_mode & 07777U : 0;
  }

  TempDir temp_;
};

TEST_F(CopyTreeTest, FilesModesAndTimesAreTheSame) {
  fs::create_directories(From("a/b"));
  std::ofstream(From("a/b/file")) << "text";
  std::ofstream(From("empty"));
  std::ofstream(From("program")) << "#!/bin/sh\n";
  ::chmod(From("program").c_str(), 0755);
  ::chmod(From("a/b/file").c_str(), 0600);
  ::chmod(From("a").c_str(), 0711);
  const timespec times[2] = {{1000, 5}, {2000, 7}};
  ::utimensat(AT_FDCWD, From("a/b/file").c_str(), times, 0);
  const auto copied = Copy();
  ASSERT_TRUE(copied) << copied.error().what;
  EXPECT_EQ(copied->files, 3U);
  EXPECT_EQ(copied->left_out, 0U);
  EXPECT_EQ(Read(To("a/b/file")), "text");
  EXPECT_EQ(Read(To("empty")), "");
  EXPECT_EQ(ModeOf(To("program")), 0755U);
  EXPECT_EQ(ModeOf(To("a/b/file")), 0600U);
  EXPECT_EQ(ModeOf(To("a")), 0711U);
  struct stat info{};
  ASSERT_EQ(::stat(To("a/b/file").c_str(), &info), 0);
  EXPECT_EQ(info.st_mtim.tv_sec, 2000);
  EXPECT_EQ(info.st_mtim.tv_nsec, 7);
}

TEST_F(CopyTreeTest, NoRightBeyondTheOrdinaryIsCopied) {
  std::ofstream(From("set")) << "x";
  ::chmod(From("set").c_str(), 06755);
  fs::create_directory(From("sticky"));
  ::chmod(From("sticky").c_str(), 03777);
  ASSERT_TRUE(Copy());
  EXPECT_EQ(ModeOf(To("set")), 0755U);
  EXPECT_EQ(ModeOf(To("sticky")) & 07000U, 0U);
}

TEST_F(CopyTreeTest, LinksAreCopiedAndNeverFollowed) {
  fs::create_symlink("../outside", From("out"));
  fs::create_symlink("/etc/passwd", From("absolute"));
  fs::create_symlink("..", From("up"));
  fs::create_symlink("loop", From("loop"));
  std::ofstream(From("file")) << "x";
  fs::create_hard_link(From("file"), From("hard"));
  const auto copied = Copy();
  ASSERT_TRUE(copied) << copied.error().what;
  EXPECT_EQ(copied->files, 2U);
  EXPECT_EQ(fs::read_symlink(To("out")), "../outside");
  EXPECT_EQ(fs::read_symlink(To("absolute")), "/etc/passwd");
  EXPECT_EQ(fs::read_symlink(To("up")), "..");
  EXPECT_EQ(fs::read_symlink(To("loop")), "loop");
  EXPECT_EQ(Read(To("hard")), "x");
}

/// Opening one of them would wait for somebody who never comes.
TEST_F(CopyTreeTest, FifosAndSocketsAreLeftOut) {
  ASSERT_EQ(::mkfifo(From("fifo").c_str(), 0666), 0);
  const UniqueFd socket(::socket(AF_UNIX, SOCK_STREAM, 0));
  sockaddr_un address{.sun_family = AF_UNIX, .sun_path = {}};
  From("socket").copy(address.sun_path, sizeof address.sun_path - 1);
  ASSERT_EQ(::bind(socket.get(), reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  std::ofstream(From("file")) << "x";
  const auto copied = Copy();
  ASSERT_TRUE(copied) << copied.error().what;
  EXPECT_EQ(copied->files, 1U);
  EXPECT_EQ(copied->left_out, 2U);
  EXPECT_FALSE(fs::exists(To("fifo")));
}

TEST_F(CopyTreeTest, DepthIsBounded) {
  std::string path;
  for (int i = 0; i < 100; ++i) path += "d/";
  fs::create_directories(From(path));
  std::ofstream(From(path) + "file") << "x";
  EXPECT_TRUE(Copy());
  EXPECT_EQ(Read(To(path) + "file"), "x");
  fs::remove_all(To("d"));
  fs::create_directories(From(path + "d/d"));
  const auto copied = Copy();
  ASSERT_FALSE(copied);
  EXPECT_THAT(copied.error().what, ::testing::HasSubstr("cannot copy the files"));
}

/// Somebody writes on while it is copied: what is copied ends where the file ended at first sight.
TEST_F(CopyTreeTest, AFileThatGrowsIsNotFollowed) {
  std::ofstream(From("log")) << std::string(1U << 20, 'x');
  std::atomic<bool> over = false;
  std::thread writer([&] {
    std::ofstream log(From("log"), std::ios::app);
    while (!over && log.tellp() < (64 << 20)) log << std::string(1U << 16, 'y') << std::flush;
  });
  const auto copied = Copy();
  over = true;
  writer.join();
  ASSERT_TRUE(copied) << copied.error().what;
  EXPECT_EQ(copied->files, 1U);
  EXPECT_LE(fs::file_size(To("log")), fs::file_size(From("log")));
}

TEST_F(CopyTreeTest, WhatIsThereAlreadyIsNotReplaced) {
  std::ofstream(From("file")) << "new";
  fs::create_symlink("../outside", To("file"));
  EXPECT_FALSE(Copy());
  EXPECT_EQ(Read(temp_.path() + "/outside"), "outside") << "and no link is written through";
}

/// Only its owner's own code may keep a directory from being written to.
TEST_F(CopyTreeTest, DirectoriesThatNobodyMayWriteToAreFilled) {
  fs::create_directory(From("closed"));
  std::ofstream(From("closed/file")) << "x";
  ::chmod(From("closed").c_str(), 0555);
  const auto copied = Copy();
  ::chmod(From("closed").c_str(), 0755);
  ASSERT_TRUE(copied) << copied.error().what;
  EXPECT_EQ(Read(To("closed/file")), "x");
}

}  // namespace
}  // namespace igloo::session
