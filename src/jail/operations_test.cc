#include "jail/operations.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "base/file.h"
#include "base/temp_dir.h"
#include "jail/list_testing.h"
#include "jail/trees.h"
#include "kernel/calls.h"

namespace igloo::jail {
namespace {

using ops::Code;

/// Operations that only make names, below a directory that stands for the new root.
class NamesInARoot : public testing::Test {
 protected:
  NamesInARoot() {
    setup_.root_fd = root_.get();
    setup_.job = &job_;
    job_.fds[ops::kReply] = reply_.first.get();
  }
  bool Apply(const List& list) { return ApplyList(setup_, list, failure_); }
  std::string PathOf(const std::string& name) const { return temp_.path() + name; }

  TempDir temp_ = TempDir::Make("/tmp").value();
  kernel::ScopedFd root_{::open(temp_.path().c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC)};
  FdPair reply_ = MakeSocketPair(SOCK_SEQPACKET).value();
  Job job_ = {};
  jail::Setup setup_ = {};
  Failure failure_ = {};
};

TEST_F(NamesInARoot, AreMadeInOrderAndCounted) {
  ListOf list;
  list.Add(Code::kDirectory, "/a").Add(Code::kDirectory, "/a/b").Add(Code::kFile, "/a/b/c", "text");
  list.Add(Code::kSymlink, "/l", "a/b").Add(Code::kNamedPipe, "/a/p").Add(Code::kFile, "/a/e");
  ASSERT_TRUE(Apply(list));
  EXPECT_EQ(setup_.next_operation, 6U);
  std::ifstream file(PathOf("/l/c"));
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(file), {}), "text");
  EXPECT_TRUE(std::filesystem::is_fifo(PathOf("/a/p")));
  EXPECT_TRUE(std::filesystem::is_empty(PathOf("/a/e")));
}

TEST_F(NamesInARoot, AreNeverMadeThroughALink) {
  const TempDir host = TempDir::Make("/tmp").value();
  std::filesystem::create_symlink(host.path(), PathOf("/l"));
  for (const Code code : {Code::kDirectory, Code::kSymlink, Code::kFile, Code::kNamedPipe}) {
    EXPECT_FALSE(Apply(ListOf().Add(code, "/l/x", "y")));
    EXPECT_EQ(failure_.sys_errno, ELOOP);
  }
  EXPECT_TRUE(std::filesystem::is_empty(host.path()));
}

TEST_F(NamesInARoot, AreNeverMadeAboveIt) {
  EXPECT_FALSE(Apply(ListOf().Add(Code::kDirectory, "/../../tmp/x")));
  EXPECT_EQ(failure_.sys_errno, EXDEV);
}

TEST_F(NamesInARoot, DoNotReplaceWhatIsThere) {
  std::ofstream(PathOf("/f")) << "old";
  EXPECT_FALSE(Apply(ListOf().Add(Code::kFile, "/f", "new")));
  EXPECT_EQ(failure_.sys_errno, EEXIST);
}

TEST_F(NamesInARoot, FailWithTheNumberOfTheirOperationOverAllLists) {
  ASSERT_TRUE(Apply(ListOf().Add(Code::kDirectory, "/a").Add(Code::kDirectory, "/b")));
  EXPECT_FALSE(Apply(ListOf().Add(Code::kDirectory, "/c").Add(Code::kDirectory, "/d/e")));
  EXPECT_EQ(failure_.step, ops::Step::kOperation);
  EXPECT_EQ(failure_.index, 3U);
  EXPECT_EQ(failure_.sys_errno, ENOENT);
}

TEST_F(NamesInARoot, NothingFollowsAnOperationThatFailed) {
  EXPECT_FALSE(Apply(ListOf().Add(Code::kDirectory, "/a/b").Add(Code::kDirectory, "/c")));
  EXPECT_FALSE(std::filesystem::exists(PathOf("/c")));
}

TEST_F(NamesInARoot, ABrokenListFailsBehindItsLastWholeOperation) {
  ListOf list;
  list.Add(Code::kDirectory, "/a").Add(Code::kDirectory, "/b");
  EXPECT_FALSE(Apply(list.Broken()));
  EXPECT_EQ(failure_.step, ops::Step::kDecode);
  EXPECT_EQ(failure_.index, 1U);
  EXPECT_FALSE(std::filesystem::exists(PathOf("/b")));
}

TEST_F(NamesInARoot, ADirectoryIsHandedOutByDescriptor) {
  ASSERT_TRUE(Apply(
      ListOf().Add(Code::kDirectory, "/w").Add(Code::kFile, "/w/x").Add(Code::kHandOut, "/w")));
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))];
  ops::Reply reply{};
  iovec io{&reply, sizeof reply};
  msghdr message{};
  message.msg_iov = &io;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  ASSERT_GT(::recvmsg(reply_.second.get(), &message, MSG_CMSG_CLOEXEC), 0);
  EXPECT_EQ(reply.kind, ops::ReplyKind::kHandedOut);
  ASSERT_NE(CMSG_FIRSTHDR(&message), nullptr);
  int fd = -1;
  std::memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof fd);
  const kernel::ScopedFd directory(fd);
  EXPECT_EQ(::faccessat(fd, "x", F_OK, 0), 0);
}

TEST_F(NamesInARoot, AFileIsNotHandedOutAsADirectory) {
  EXPECT_FALSE(Apply(ListOf().Add(Code::kFile, "/f").Add(Code::kHandOut, "/f")));
  EXPECT_EQ(failure_.index, 1U);
  EXPECT_EQ(failure_.sys_errno, ENOTDIR);
}

TEST_F(NamesInARoot, ACopyNeedsASource) {
  static Sources none;
  setup_.sources = &none;
  setup_.role = Role::kCold;
  EXPECT_FALSE(Apply(ListOf().Add(Code::kFile, "/f").Add(Code::kCopy, "/f")));
  EXPECT_EQ(failure_.sys_errno, EBADMSG);
}

TEST_F(NamesInARoot, ACopyIsMadeOfTheNextSourceAndNotThroughALink) {
  std::ofstream(PathOf("/from")) << "content";
  static Sources sources;
  sources.count = 2;
  for (int i = 0; i < 2; ++i)
    sources.fds[i] = ::open(PathOf("/from").c_str(), O_RDONLY | O_CLOEXEC);
  setup_.sources = &sources;
  setup_.role = Role::kCold;
  ASSERT_TRUE(Apply(ListOf().Add(Code::kFile, "/to").Add(Code::kCopy, "/to")));
  EXPECT_EQ(std::filesystem::file_size(PathOf("/to")), 7U);
  EXPECT_FALSE(Apply(ListOf().Add(Code::kSymlink, "/l", "to").Add(Code::kCopy, "/l")));
  EXPECT_EQ(failure_.sys_errno, ELOOP);
}

TEST_F(NamesInARoot, AClosedNetworkHasOneToThirtyTwoBits) {
  for (const unsigned bits : {0U, 33U, 256U + 8U}) {
    ops::Op op{};
    op.code = Code::kClose;
    op.mode = bits;
    EXPECT_FALSE(Apply(ListOf().Add(op)));
    EXPECT_EQ(failure_.sys_errno, EINVAL) << bits;
  }
}

TEST_F(NamesInARoot, AnEdgeIsOnlyOfAColdRunWithTwoAddresses) {
  ops::Op op{};
  op.code = Code::kEdge;
  op.address = op.mode = 1;
  setup_.role = Role::kOnTemplate;
  EXPECT_FALSE(Apply(ListOf().Add(op)));
  EXPECT_EQ(failure_.sys_errno, EINVAL);
  setup_.role = Role::kCold;
  op.address = 0;
  EXPECT_FALSE(Apply(ListOf().Add(op)));
  EXPECT_EQ(failure_.sys_errno, EINVAL);
}

TEST_F(NamesInARoot, PathsBelowARootStayThereWhateverLinksSay) {
  std::filesystem::create_directory(PathOf("/d"));
  std::filesystem::create_symlink("d", PathOf("/l"));
  const auto error = [&](const char* path) {
    const kernel::ScopedFd fd(OpenBelow(root_.get(), path, O_PATH));
    return fd ? 0 : errno;
  };
  EXPECT_EQ(error("/d"), 0);
  EXPECT_EQ(error("d/../d"), 0);
  EXPECT_EQ(error("/"), 0);
  EXPECT_EQ(error("/.."), EXDEV);
  EXPECT_EQ(error("/l/"), ELOOP);
  EXPECT_EQ(error("/d/../../tmp"), EXDEV);
}

TEST(Lists, KnowWhatTheyHave) {
  ListOf list;
  list.Add(Code::kRoot).Add(Code::kNetwork);
  EXPECT_EQ(CountOperations(list), 2U);
  EXPECT_TRUE(Contains(list, Code::kNetwork));
  EXPECT_FALSE(Contains(list, Code::kPivot));
  EXPECT_EQ(CountOperations({nullptr, 0}), 0U);
}

TEST(Lists, GrantRawSocketsOnlyWherePrivilegesAreBoundedSo) {
  ops::Op op{};
  op.code = Code::kBoundPrivileges;
  EXPECT_FALSE(GrantsRawSockets(ListOf().Add(op)));
  op.flags = ops::kFlagRawSockets;
  EXPECT_TRUE(GrantsRawSockets(ListOf().Add(Code::kRoot).Add(op)));
  op.code = Code::kDropPrivileges;
  EXPECT_FALSE(GrantsRawSockets(ListOf().Add(op)));
}

TEST(Names, AreRelativeToTheRoot) {
  EXPECT_STREQ(Relative("/a/b"), "a/b");
  EXPECT_STREQ(Relative("//a"), "a");
  EXPECT_STREQ(Relative("a"), "a");
  EXPECT_STREQ(Relative("/"), ".");
  EXPECT_STREQ(Relative(""), ".");
}

}  // namespace
}  // namespace igloo::jail
