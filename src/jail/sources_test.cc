#include "jail/sources.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <string>

#include "base/temp_dir.h"
#include "jail/channel.h"
#include "jail/list_testing.h"

namespace igloo::jail {
namespace {

/// Files that are to be copied: the sources that anybody may open.
class CopiedSources : public testing::Test {
 protected:
  ~CopiedSources() override { CloseAll(sources_.fds, sources_.count); }

  std::string PathOf(const char* name) const { return temp_.path() + "/" + name; }
  void Make(const char* name) const { std::ofstream(PathOf(name)) << name; }

  /// The operation for a file as it is now.
  ops::Op Seen(const char* name) const {
    struct stat info{};
    EXPECT_EQ(::stat(PathOf(name).c_str(), &info), 0);
    ops::Op op{};
    op.code = ops::Code::kCopy;
    op.device = info.st_dev;
    op.inode = info.st_ino;
    op.mode = info.st_mode & S_IFMT;
    return op;
  }

  bool Open(const List& list) {
    const SourceOwner nobody{.map = false, .proc_fd = -1, .host_id = 0};
    return OpenSources(list, index_, nobody, sources_, failure_);
  }

  TempDir temp_ = TempDir::Make("/tmp").value();
  Sources sources_ = {};
  uint32_t index_ = 5;  // of the lists before
  Failure failure_ = {};
};

TEST_F(CopiedSources, AreOpenedInOrderAndCountedWithTheOtherOperations) {
  Make("a");
  Make("b");
  ListOf list;
  list.Add(ops::Code::kDirectory, "/x").Add(Seen("b"), "/b", PathOf("b"));
  list.Add(Seen("a"), "/a", PathOf("a"));
  ASSERT_TRUE(Open(list));
  EXPECT_EQ(index_, 8U);
  ASSERT_EQ(sources_.count, 2U);
  EXPECT_TRUE(IsSameFile(sources_.fds[0], Seen("b")));
  EXPECT_TRUE(IsSameFile(sources_.fds[1], Seen("a")));
}

TEST_F(CopiedSources, ThatWereReplacedAreRefused) {
  Make("a");
  Make("b");
  const ops::Op seen = Seen("a");
  std::filesystem::rename(PathOf("b"), PathOf("a"));
  EXPECT_FALSE(Open(ListOf().Add(ops::Code::kDirectory, "/x").Add(seen, "/a", PathOf("a"))));
  EXPECT_EQ(failure_.step, ops::Step::kSourceChanged);
  EXPECT_EQ(failure_.index, 6U);
  EXPECT_EQ(failure_.sys_errno, ESTALE);
}

TEST_F(CopiedSources, OfAnotherDeviceOrTypeAreRefused) {
  Make("a");
  ops::Op elsewhere = Seen("a");
  elsewhere.device += 1;
  EXPECT_FALSE(Open(ListOf().Add(elsewhere, "/a", PathOf("a"))));
  ops::Op directory = Seen("a");
  directory.mode = S_IFDIR;
  EXPECT_FALSE(Open(ListOf().Add(directory, "/a", PathOf("a"))));
  EXPECT_EQ(failure_.step, ops::Step::kSourceChanged);
}

TEST_F(CopiedSources, ThatBecameNamedPipesDoNotMakeTheLauncherWait) {
  Make("a");
  const ops::Op seen = Seen("a");
  std::filesystem::remove(PathOf("a"));
  ASSERT_EQ(::mkfifo(PathOf("a").c_str(), 0600), 0);
  EXPECT_FALSE(Open(ListOf().Add(seen, "/a", PathOf("a"))));
  EXPECT_EQ(failure_.step, ops::Step::kSourceChanged);
}

TEST_F(CopiedSources, BehindMagicLinksAreRefused) {
  Make("a");
  const int fd = ::open(PathOf("a").c_str(), O_RDONLY | O_CLOEXEC);
  EXPECT_FALSE(Open(ListOf().Add(Seen("a"), "/a", "/proc/self/fd/" + std::to_string(fd))));
  EXPECT_EQ(failure_.step, ops::Step::kSource);
  EXPECT_EQ(failure_.sys_errno, ELOOP);
  ::close(fd);
}

TEST_F(CopiedSources, ThatAreMissingSayWhichOperationNeedsThem) {
  Make("a");
  ListOf list;
  list.Add(Seen("a"), "/a", PathOf("a")).Add(Seen("a"), "/b", PathOf("b"));
  EXPECT_FALSE(Open(list));
  EXPECT_EQ(failure_.step, ops::Step::kSource);
  EXPECT_EQ(failure_.index, 6U);
  EXPECT_EQ(failure_.sys_errno, ENOENT);
}

TEST_F(CopiedSources, CannotGetAnotherOwner) {
  Make("a");
  ops::Op mapped = Seen("a");
  mapped.flags = ops::kFlagMapOwner;
  const SourceOwner owner{.map = true, .proc_fd = -1, .host_id = 1};
  EXPECT_FALSE(
      OpenSources(ListOf().Add(mapped, "/a", PathOf("a")), index_, owner, sources_, failure_));
  EXPECT_EQ(failure_.step, ops::Step::kSourceMap);
}

TEST_F(CopiedSources, OfABrokenListAreRefused) {
  Make("a");
  EXPECT_FALSE(Open(ListOf().Add(Seen("a"), "/a", PathOf("a")).Broken()));
  EXPECT_EQ(failure_.step, ops::Step::kDecode);
  EXPECT_EQ(failure_.sys_errno, EBADMSG);
}

TEST_F(CopiedSources, AreBoundedInNumber) {
  Make("a");
  sources_.count = kMaxSources;
  const bool opened = Open(ListOf().Add(Seen("a"), "/a", PathOf("a")));
  sources_.count = 0;
  EXPECT_FALSE(opened);
  EXPECT_EQ(failure_.sys_errno, E2BIG);
}

}  // namespace
}  // namespace igloo::jail
