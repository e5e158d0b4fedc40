#include "machine/stream.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <string>

namespace igloo::machine {
namespace {

/// Both sides of one port, as the relay and the machine have them.
class Stream : public ::testing::Test {
 protected:
  Stream() {
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, port_), 0);
    for (const int end : port_) SetNonBlocking(end);
    EXPECT_EQ(::pipe2(in_, O_CLOEXEC), 0);
    EXPECT_EQ(::pipe2(out_, O_CLOEXEC), 0);
    to_.Open(in_[0], port_[0]);
    from_.Open(out_[1], port_[1]);
  }
  ~Stream() override {
    for (const int fd : {port_[0], port_[1], in_[1], out_[0]}) {
      if (fd >= 0) ::close(fd);
    }
  }

  /// Whatever can be done now; false: one side gave up.
  bool Settle() {
    for (int round = 0; round < 64; ++round) {
      pollfd fds[4] = {};
      to_.Watch(fds);
      from_.Watch(fds + 2);
      if (::poll(fds, 4, 0) == 0) return true;
      if (!to_.Move(fds) || !from_.Move(fds + 2)) return false;
    }
    return true;
  }
  std::string Arrived() {
    std::string text(1U << 20, '\0');
    const ssize_t count = ::read(out_[0], text.data(), text.size());
    text.resize(count > 0 ? static_cast<std::size_t>(count) : 0);
    return text;
  }
  void CloseInput() {
    ::close(in_[1]);
    in_[1] = -1;
  }
  void Write(const std::string& text) {
    ASSERT_EQ(::write(in_[1], text.data(), text.size()), static_cast<ssize_t>(text.size()));
  }

  int port_[2] = {}, in_[2] = {}, out_[2] = {};
  ToPort to_;
  FromPort from_;
};

TEST_F(Stream, CarriesBytesAndTheirEnd) {
  Write("one");
  EXPECT_TRUE(Settle());
  EXPECT_EQ(Arrived(), "one");
  EXPECT_FALSE(from_.over());
  Write("two");
  CloseInput();
  EXPECT_TRUE(Settle());
  EXPECT_TRUE(to_.over());
  EXPECT_TRUE(from_.over());
  EXPECT_EQ(Arrived(), "two");
  EXPECT_EQ(Arrived(), "") << "end of file: nobody holds the writing end any more";
}

TEST_F(Stream, WaitsForAReaderAndLosesNothing) {
  ::fcntl(in_[1], F_SETPIPE_SZ, 1 << 20);
  std::string sent;
  for (int i = 0; sent.size() < 300'000; ++i) sent += std::to_string(i) + ",";
  Write(sent);
  CloseInput();
  std::string arrived;
  for (int round = 0; round < 100 && !from_.over(); ++round) {
    EXPECT_TRUE(Settle());
    arrived += Arrived();
  }
  arrived += Arrived();
  EXPECT_EQ(arrived, sent);
}

TEST_F(Stream, DropsWhatNobodyReads) {
  ::signal(SIGPIPE, SIG_IGN);
  ::close(out_[0]);
  out_[0] = -1;
  Write("one");
  EXPECT_TRUE(Settle());
  Write("two");
  CloseInput();
  EXPECT_TRUE(Settle()) << "the stream goes on to its end";
  EXPECT_TRUE(from_.over());
}

TEST_F(Stream, RefusesAPieceThatIsTooLong) {
  const unsigned char header[] = {0, 1, 0, 0};  // 64 KB
  ASSERT_EQ(::write(port_[0], header, sizeof header), 4);
  EXPECT_FALSE(Settle());
}

TEST_F(Stream, APortThatEndsIsNoEndOfAStream) {
  ::close(port_[0]);
  port_[0] = -1;
  EXPECT_FALSE(Settle());
  EXPECT_FALSE(from_.over());
}

/// What a poll says of one output.
struct Polled {
  pollfd fds[2] = {};
};
constexpr Polled kStill = {};
constexpr Polled kReadable = {{{.fd = 1, .events = POLLIN, .revents = POLLIN}, {}}};
constexpr Polled kWritable = {{{}, {.fd = 1, .events = POLLOUT, .revents = POLLOUT}}};

TEST(OrderTest, AnswersWaitForOutputThatMoves) {
  Order order;
  EXPECT_FALSE(order.AnswersWait(kStill.fds, kStill.fds));
  EXPECT_TRUE(order.AnswersWait(kReadable.fds, kStill.fds));
  EXPECT_TRUE(order.AnswersWait(kStill.fds, kWritable.fds));
  EXPECT_FALSE(order.AnswersWait(kStill.fds, kStill.fds)) << "all of it has gone";
}

TEST(OrderTest, AnswersDoNotWaitForOutputThatNeverEnds) {
  Order order;
  int rounds = 0;
  while (order.AnswersWait(kReadable.fds, kStill.fds) && rounds < 100'000) ++rounds;
  EXPECT_LT(rounds, 1000);
}

}  // namespace
}  // namespace igloo::machine
