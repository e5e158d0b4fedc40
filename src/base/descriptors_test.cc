#include "base/descriptors.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <vector>

#include "base/file.h"

namespace igloo {
namespace {

ino_t InodeOf(int fd) {
  struct stat status{};
  return ::fstat(fd, &status) == 0 ? status.st_ino : 0;
}

/// Sends these with one byte and receives what comes with it.
template <std::size_t kRoom>
std::vector<UniqueFd> Pass(const std::vector<int>& sent, int& flags) {
  const FdPair pair = MakeSocketPair(SOCK_SEQPACKET).value();
  char byte = 'x';
  iovec part{&byte, 1};
  msghdr out{};
  out.msg_iov = &part;
  out.msg_iovlen = 1;
  DescriptorRoom<8> full;
  full.Send(out, sent);
  EXPECT_EQ(::sendmsg(pair.first.get(), &out, 0), 1);
  msghdr in{};
  in.msg_iov = &part;
  in.msg_iovlen = 1;
  DescriptorRoom<kRoom> room;
  room.Receive(in);
  EXPECT_EQ(::recvmsg(pair.second.get(), &in, MSG_CMSG_CLOEXEC), 1);
  flags = in.msg_flags;
  return DescriptorsOf(in);
}

TEST(Descriptors, ComeWithAMessageInTheirOrder) {
  const FdPair pipe = MakePipe().value();
  int flags = 0;
  const auto none = Pass<8>({}, flags);
  EXPECT_TRUE(none.empty());
  const auto both = Pass<8>({pipe.second.get(), pipe.first.get()}, flags);
  ASSERT_EQ(both.size(), 2U);
  EXPECT_EQ(InodeOf(both[0].get()), InodeOf(pipe.second.get()));
  EXPECT_EQ(::fcntl(both[0].get(), F_GETFL) & O_ACCMODE, O_WRONLY);
  EXPECT_EQ(::fcntl(both[1].get(), F_GETFL) & O_ACCMODE, O_RDONLY);
  EXPECT_EQ(flags & MSG_CTRUNC, 0);
}

TEST(Descriptors, BeyondTheRoomForThemAreToldAndNeverLeaked) {
  const FdPair pipe = MakePipe().value();
  int flags = 0;
  // Room for one has the size of room for two: the kernel rounds up. All that come have an owner.
  const auto some = Pass<1>(std::vector<int>(8, pipe.first.get()), flags);
  EXPECT_NE(flags & MSG_CTRUNC, 0);
  EXPECT_GE(some.size(), 1U);
  for (const UniqueFd& each : some) EXPECT_EQ(InodeOf(each.get()), InodeOf(pipe.first.get()));
}

}  // namespace
}  // namespace igloo
