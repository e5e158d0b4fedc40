#include "jail/channel.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstring>
#include <functional>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

#include "base/file.h"
#include "kernel/calls.h"

namespace igloo::jail {
namespace {

ops::Request GoodRequest() {
  ops::Request request{};
  request.magic = ops::kMagic;
  request.kind = ops::Kind::kRun;
  request.fd_count = 2;
  request.init_fds = 1;
  request.inner_uid = request.inner_gid = 1000;
  return request;
}

/// What the launcher makes of a request that comes with `count` descriptors and a body.
bool Receives(const ops::Request& request, unsigned count, const std::string& body = {},
              Job* received = nullptr) {
  const FdPair ends = MakeSocketPair(SOCK_STREAM).value();
  const std::vector<int> fds(count, ends.first.get());
  EXPECT_TRUE(SendWithFds(ends.first.get(), &request, sizeof request, fds.data(), count));
  EXPECT_EQ(::write(ends.first.get(), body.data(), body.size()), static_cast<ssize_t>(body.size()));
  ::shutdown(ends.first.get(), SHUT_WR);
  Job job{};
  const bool fine = ReceiveJob(ends.second.get(), job);
  for (unsigned i = 0; i < count && job.fds[i] > 0; ++i) kernel::CloseQuietly(job.fds[i]);
  if (received != nullptr) *received = job;
  return fine;
}

bool ReceivesChanged(const std::function<void(ops::Request&)>& change, unsigned count = 2) {
  ops::Request request = GoodRequest();
  change(request);
  return Receives(request, count);
}

TEST(Requests, ComeWithTheirListsOneBehindTheOther) {
  ops::Request request = GoodRequest();
  request.environment_bytes = 16;
  request.fresh_bytes = 8;
  request.run_bytes = 4;
  Job job{};
  ASSERT_TRUE(Receives(request, 2, std::string(16, 'e') + std::string(8, 'f') + "runs", &job));
  const auto text = [](const List& list) {
    return std::string(static_cast<const char*>(list.bytes), list.size);
  };
  EXPECT_EQ(text(job.environment()), std::string(16, 'e'));
  EXPECT_EQ(text(job.fresh()), std::string(8, 'f'));
  EXPECT_EQ(text(job.run()), "runs");
}

TEST(Requests, ThatEndInTheMiddleAreRefused) {
  ops::Request request = GoodRequest();
  request.run_bytes = 8;
  EXPECT_TRUE(Receives(request, 2, "12345678"));
  EXPECT_FALSE(Receives(request, 2, "1234567"));
}

TEST(Requests, OfAnotherLanguageAreRefused) {
  EXPECT_TRUE(ReceivesChanged([](auto&) {}));
  EXPECT_FALSE(ReceivesChanged([](auto& request) { request.magic = 1; }));
}

TEST(Requests, MustSayHowManyDescriptorsCome) {
  EXPECT_FALSE(ReceivesChanged([](auto&) {}, 1));
  EXPECT_FALSE(ReceivesChanged([](auto&) {}, 3));
  EXPECT_FALSE(ReceivesChanged([](auto& request) { request.fd_count = request.init_fds = 0; }, 0));
  EXPECT_FALSE(ReceivesChanged([](auto& request) { request.init_fds = 2; }));
}

TEST(Requests, ThatWantACgroupMustBringIt) {
  const auto born = [](ops::Request& request) { request.flags = ops::kRequestIntoCgroup; };
  EXPECT_FALSE(ReceivesChanged(born));
  const auto with_group = [](ops::Request& request) {
    request.flags = ops::kRequestIntoCgroup;
    request.fd_count = 3;
  };
  EXPECT_TRUE(ReceivesChanged(with_group, 3));
}

TEST(Requests, ForRootInsideAreRefused) {
  EXPECT_FALSE(ReceivesChanged([](auto& request) { request.inner_uid = 0; }));
  EXPECT_FALSE(ReceivesChanged([](auto& request) { request.inner_gid = 0; }));
}

TEST(Requests, WithListsThatAreNotAlignedOrTooLongAreRefused) {
  EXPECT_FALSE(ReceivesChanged([](auto& request) { request.environment_bytes = 4; }));
  EXPECT_FALSE(ReceivesChanged([](auto& request) { request.fresh_bytes = 4; }));
  // Sizes whose sum wraps around in 32 bits.
  EXPECT_FALSE(ReceivesChanged(
      [](auto& request) { request.environment_bytes = request.fresh_bytes = 0x80000000; }));
}

TEST(Descriptors, BeyondTheRoomForThemAreRefused) {
  const FdPair ends = MakeSocketPair(SOCK_STREAM).value();
  const int fds[2] = {ends.first.get(), ends.first.get()};
  char byte = 0;
  int room[2];
  unsigned count = 0;
  ASSERT_TRUE(SendWithFds(ends.first.get(), "x", 1, fds, 2));
  ASSERT_TRUE(ReceiveWithFds(ends.second.get(), &byte, 1, room, 2, count));
  EXPECT_EQ(count, 2U);
  for (const int fd : room) EXPECT_NE(::fcntl(fd, F_GETFD) & FD_CLOEXEC, 0);
  CloseAll(room, count);
}

TEST(ForwardedJobs, BringEverySourceInOrder) {
  // More than one message can carry.
  constexpr unsigned kMany = 300;
  const FdPair ends = MakeSocketPair(SOCK_STREAM).value();
  const FdPair pipes[2] = {MakePipe().value(), MakePipe().value()};
  static Sources sent, received;
  sent.count = kMany;
  for (unsigned i = 0; i < kMany; ++i) sent.fds[i] = pipes[i % 3 == 0].first.get();
  Job job{};
  job.request = GoodRequest();
  job.request.run_bytes = 8;
  job.body = reinterpret_cast<const unsigned char*>("run list");
  job.fds[0] = job.fds[1] = ends.first.get();
  std::thread sender([&] { EXPECT_TRUE(SendJob(ends.first.get(), job, sent)); });
  Job copy{};
  EXPECT_TRUE(ReceiveForwarded(ends.second.get(), copy, received));
  sender.join();
  EXPECT_EQ(memcmp(copy.body, "run list", 8), 0);
  ASSERT_EQ(received.count, kMany);
  const auto inode = [](int fd) {
    struct stat info{};
    EXPECT_EQ(::fstat(fd, &info), 0);
    return info.st_ino;
  };
  for (unsigned i = 0; i < kMany; ++i) EXPECT_EQ(inode(received.fds[i]), inode(sent.fds[i])) << i;
  CloseAll(received.fds, received.count);
  CloseAll(copy.fds, copy.request.fd_count);
}

TEST(ForwardedJobs, OfAParentThatIsGoneEnd) {
  FdPair ends = MakeSocketPair(SOCK_STREAM).value();
  ends.first.Reset();
  Job job{};
  static Sources sources;
  EXPECT_FALSE(ReceiveForwarded(ends.second.get(), job, sources));
}

TEST(Replies, SayWhereAndWhySomethingFailed) {
  const FdPair ends = MakeSocketPair(SOCK_SEQPACKET).value();
  SendFailure(ends.first.get(), {ops::Step::kSource, 7, ENOENT});
  ops::Reply reply{};
  ASSERT_EQ(::recv(ends.second.get(), &reply, sizeof reply, 0), ssize_t{sizeof reply});
  EXPECT_EQ(reply.kind, ops::ReplyKind::kFailed);
  EXPECT_EQ(reply.step, ops::Step::kSource);
  EXPECT_EQ(reply.index, 7U);
  EXPECT_EQ(reply.sys_errno, ENOENT);
}

}  // namespace
}  // namespace igloo::jail
