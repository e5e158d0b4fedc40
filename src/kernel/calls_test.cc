#include "kernel/calls.h"

#include <gtest/gtest.h>
#include <sys/socket.h>

#include <fstream>
#include <string>

#include "base/file.h"
#include "base/temp_dir.h"

namespace igloo::kernel {
namespace {

class SmallFiles : public testing::Test {
 protected:
  int Directory() const { return directory_.get(); }
  std::string ReadBack(const char* name, std::size_t room) const {
    std::string text(room, 'x');
    const bool read = ReadTextAt(Directory(), name, text.data(), text.size());
    EXPECT_EQ(read, text[0] != '\0');
    return text.c_str();
  }
  void Make(const char* name, const std::string& text) const {
    std::ofstream(temp_.path() + "/" + name) << text;
  }

 private:
  TempDir temp_ = TempDir::Make("/tmp").value();
  ScopedFd directory_{open(temp_.path().c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC)};
};

TEST_F(SmallFiles, AreReadAsTextAsFarAsThereIsRoom) {
  Make("a", "12345");
  EXPECT_EQ(ReadBack("a", 64), "12345");
  EXPECT_EQ(ReadBack("a", 4), "123");
}

TEST_F(SmallFiles, ThatAreMissingOrEmptyAreEmptyTexts) {
  Make("empty", "");
  EXPECT_EQ(ReadBack("empty", 64), "");
  EXPECT_EQ(ReadBack("missing", 64), "");
}

TEST_F(SmallFiles, AreWrittenButNeverMade) {
  Make("a", "");
  EXPECT_TRUE(WriteTextAt(Directory(), "a", "0 1000 1"));
  EXPECT_EQ(ReadBack("a", 64), "0 1000 1");
  EXPECT_FALSE(WriteTextAt(Directory(), "b", "0"));
  EXPECT_EQ(errno, ENOENT);
}

TEST_F(SmallFiles, AreWrittenWithoutTouchingErrno) {
  Make("a", "");
  errno = 77;
  EXPECT_TRUE(WriteTextAt(Directory(), "a", "0"));
  EXPECT_EQ(errno, 77);
}

TEST(ScopedDescriptor, IsClosedAtTheEndAndKeepsErrno) {
  FdPair pipe = MakePipe().value();
  const int number = pipe.first.Release();
  {
    const ScopedFd fd(number);
    EXPECT_TRUE(fd);
    errno = 77;
  }
  EXPECT_EQ(errno, 77);
  EXPECT_EQ(fcntl(number, F_GETFD), -1);
  EXPECT_FALSE(ScopedFd(-1));
}

TEST(WholeTransfers, GoOnAfterPiecesAndInterruptions) {
  int calls = 0;
  std::size_t moved = 0;
  EXPECT_TRUE(MoveAll(10, [&](std::size_t done, std::size_t left) -> ssize_t {
    EXPECT_EQ(done + left, 10U);
    EXPECT_EQ(done, moved);
    errno = EINTR;
    if (++calls % 2 == 1) return -1;
    moved += left < 4 ? left : 4;
    return left < 4 ? static_cast<ssize_t>(left) : 4;
  }));
  EXPECT_EQ(moved, 10U);
}

TEST(WholeTransfers, EndWithAFailureOrWhenNothingMoreComes) {
  const auto answer = [](ssize_t count) {
    errno = EIO;
    return MoveAll(1, [&](std::size_t, std::size_t) { return count; });
  };
  EXPECT_FALSE(answer(-1));
  EXPECT_FALSE(answer(0));
  EXPECT_TRUE(answer(1));
}

TEST(WholeTransfers, ReadAcrossPackets) {
  const FdPair ends = MakeSocketPair(SOCK_STREAM).value();
  ASSERT_EQ(write(ends.second.get(), "ab", 2), 2);
  ASSERT_EQ(write(ends.second.get(), "cd", 2), 2);
  char text[4];
  EXPECT_TRUE(ReadAll(ends.first.get(), text, sizeof text));
  EXPECT_EQ(std::string(text, 4), "abcd");
}

TEST(NumbersInTexts, FollowTheirLabel) {
  EXPECT_EQ(NumberBehind("a: 1\nbc: 23 kB\n", "\nbc:"), 23U);
  EXPECT_EQ(NumberBehind("a: 1\n", "b:"), 0U);
  EXPECT_EQ(NumberBehind("a: 1\n", "b:", 7), 7U);
  EXPECT_EQ(NumberBehind("a: 0\n", "a:", 7), 0U);
}

}  // namespace
}  // namespace igloo::kernel
