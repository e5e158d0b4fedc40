#include "base/file.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include <cerrno>
#include <filesystem>

#include "base/temp_dir.h"

namespace igloo {
namespace {

TempDir MakeDir() {
  auto made = TempDir::Make(::testing::TempDir());
  EXPECT_TRUE(made) << made.error().what;
  return *std::move(made);
}

void Write(const std::string& path, std::string_view bytes) {
  const UniqueFd fd(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
  ASSERT_TRUE(fd);
  ASSERT_TRUE(WriteAll(fd.get(), bytes));
}

bool ClosedOnExec(const UniqueFd& fd) { return (::fcntl(fd.get(), F_GETFD) & FD_CLOEXEC) != 0; }

TEST(FileTest, PipesCarryBytesFromSecondToFirst) {
  auto pipe = MakePipe();
  ASSERT_TRUE(pipe);
  ASSERT_TRUE(WriteAll(pipe->second.get(), std::string_view("a\0b", 3)));
  pipe->second.Reset();
  EXPECT_EQ(ReadAll(pipe->first.get(), 100), std::string("a\0b", 3));
}

TEST(FileTest, NoDescriptorSurvivesExec) {
  const auto pipe = MakePipe();
  const auto sockets = MakeSocketPair(SOCK_STREAM);
  ASSERT_TRUE(pipe && sockets);
  EXPECT_TRUE(ClosedOnExec(pipe->first));
  EXPECT_TRUE(ClosedOnExec(pipe->second));
  EXPECT_TRUE(ClosedOnExec(sockets->first));
  EXPECT_TRUE(ClosedOnExec(sockets->second));
}

TEST(FileTest, SeqpacketPairsKeepMessagesApart) {
  const auto pair = MakeSocketPair(SOCK_SEQPACKET);
  ASSERT_TRUE(pair);
  ASSERT_TRUE(WriteAll(pair->first.get(), "one"));
  ASSERT_TRUE(WriteAll(pair->first.get(), "two"));
  char buffer[16];
  EXPECT_EQ(::read(pair->second.get(), buffer, sizeof buffer), 3);
}

TEST(FileTest, SocketPairsOfAnUnknownTypeFail) {
  EXPECT_EQ(MakeSocketPair(77).error().sys_errno, EINVAL);
}

TEST(FileTest, WithoutFreeDescriptorsPipesAndSocketsSayHowToHaveMore) {
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  const rlimit none{.rlim_cur = 0, .rlim_max = before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &none), 0);
  const auto pipe = MakePipe();
  const auto sockets = MakeSocketPair(SOCK_STREAM);
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &before), 0);
  ASSERT_FALSE(pipe || sockets);
  for (const Error& error : {pipe.error(), sockets.error()}) {
    EXPECT_EQ(error.sys_errno, EMFILE);
    EXPECT_EQ(error.hint, "raise the limit on open files: ulimit -n 1024");
  }
}

TEST(FileTest, ReadsFilesLargerThanOneBuffer) {
  const TempDir dir = MakeDir();
  std::string bytes;
  for (int i = 0; bytes.size() < 200'000; ++i) bytes += std::to_string(i);
  Write(dir.path() + "/f", bytes);
  EXPECT_EQ(ReadFile(dir.path() + "/f", 1U << 20), bytes);
}

TEST(FileTest, ReadsExactlyTheLimitAndNotOneByteMore) {
  const TempDir dir = MakeDir();
  const std::string path = dir.path() + "/f";
  Write(path, "12345");
  EXPECT_EQ(ReadFile(path, 5), "12345");
  EXPECT_EQ(ReadFile(path, 4).error(),
            (Error{.code = Errc::kExhausted, .what = "'" + path + "': more than 4 bytes"}));
  Write(path, std::string(2049, 'x'));
  EXPECT_EQ(ReadFile(path, 2048).error().what, "'" + path + "': more than 2 KB");
}

TEST(FileTest, AMissingFileIsNotFoundAndNamed) {
  EXPECT_EQ(ReadFile("/nonexistent/f", 10).error(),
            (Error{.code = Errc::kNotFound,
                   .what = "cannot open '/nonexistent/f': No such file or directory",
                   .sys_errno = ENOENT}));
}

TEST(FileTest, ADirectoryCannotBeRead) {
  const auto failed = ReadFile("/", 10);
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().sys_errno, EISDIR);
}

TEST(FileTest, WritingToNothingFails) {
  EXPECT_EQ(WriteAll(-1, "x").error().sys_errno, EBADF);
  EXPECT_TRUE(WriteAll(-1, "")) << "nothing to write, nothing to fail";
}

TEST(FileTest, NonBlockingReadsDoNotWait) {
  const auto pipe = MakePipe();
  ASSERT_TRUE(pipe);
  ASSERT_TRUE(SetNonBlocking(pipe->first.get()));
  EXPECT_EQ(ReadAll(pipe->first.get(), 10).error().sys_errno, EAGAIN);
  EXPECT_EQ(SetNonBlocking(-1).error().sys_errno, EBADF);
}

TEST(FileTest, ReadLinkGivesTheTargetAsWritten) {
  const TempDir dir = MakeDir();
  std::filesystem::create_symlink("../nowhere/x", dir.path() + "/link");
  EXPECT_EQ(ReadLink(dir.path() + "/link"), "../nowhere/x");
  EXPECT_EQ(ReadLink(dir.path()).error().sys_errno, EINVAL);
  EXPECT_EQ(ReadLink(dir.path() + "/none").error().code, Errc::kNotFound);
}

}  // namespace
}  // namespace igloo
