#include "guest/sockets.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sched.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <functional>
#include <utility>
#include <vector>

namespace igloo::guest {
namespace {

/// Runs `body` in a network namespace of its own, as igloo-init does; what it returned.
int InOwnNetwork(const std::function<int(int proc_fd)>& body) {
  const pid_t child = ::fork();
  if (child == 0) {
    if (::unshare(CLONE_NEWUSER | CLONE_NEWNET) != 0) ::_exit(100);
    ::_exit(body(::open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC)));
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 101;
}

/// What a socket takes before it is full.
long Fill(int fd) {
  static char piece[4096];
  long taken = 0;
  for (ssize_t count = 0; (count = ::send(fd, piece, sizeof piece, MSG_DONTWAIT)) > 0;) {
    taken += count;
  }
  return taken;
}

constexpr int kPairs = 64;

/// `kPairs` pairs that were filled and then treated with `then`; 0 when the sum is between what was
/// taken and four times as much.
int FilledPairs(int type, void (*then)(int (&ends)[2]), int proc_fd) {
  long taken = 0;
  for (int i = 0; i < kPairs; ++i) {
    int ends[2];
    if (::socketpair(AF_UNIX, type, 0, ends) != 0) return 1;
    taken += Fill(ends[0]);
    then(ends);
  }
  const auto use = static_cast<long>(ReadSocketUse(proc_fd, 1));
  return use < taken ? 2 : use > 4 * taken ? 3 : 0;
}

TEST(ReadSocketUseTest, IsNothingWhereThereIsNoSocket) {
  EXPECT_EQ(InOwnNetwork([](int proc) { return ReadSocketUse(proc, 0) == 0 ? 0 : 1; }), 0);
}

TEST(ReadSocketUseTest, CountsWhatWaitsInUnixSockets) {
  for (const int type : {SOCK_STREAM, SOCK_DGRAM, SOCK_SEQPACKET}) {
    EXPECT_EQ(InOwnNetwork([=](int proc) { return FilledPairs(type, [](int(&)[2]) {}, proc); }), 0)
        << type;
  }
}

TEST(ReadSocketUseTest, CountsWhatClosedSocketsHaveSent) {
  for (const int type : {SOCK_STREAM, SOCK_DGRAM}) {
    const auto close_sender = [](int(&ends)[2]) { ::close(ends[0]); };
    EXPECT_EQ(InOwnNetwork([=](int proc) { return FilledPairs(type, close_sender, proc); }), 0)
        << type;
  }
}

TEST(ReadSocketUseTest, CountsIdleSocketsAsEmpty) {
  const int result = InOwnNetwork([](int proc) {
    for (int i = 0; i < kPairs; ++i) {
      int ends[2];
      if (::socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0) return 1;
    }
    return ReadSocketUse(proc, 1) < (1U << 20) ? 0 : 2;
  });
  EXPECT_EQ(result, 0);
}

TEST(ReadSocketUseTest, IsNothingWhileItCannotBeInteresting) {
  const int result = InOwnNetwork([](int proc) {
    int ends[2];
    if (::socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0 || Fill(ends[0]) == 0) return 1;
    return ReadSocketUse(proc, 1ULL << 40) == 0 ? 0 : 2;
  });
  EXPECT_EQ(result, 0);
}

}  // namespace
}  // namespace igloo::guest
