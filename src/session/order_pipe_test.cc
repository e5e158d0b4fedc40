#include "session/order_pipe.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <unistd.h>

#include <string>

namespace igloo::session {
namespace {

bool CanWrite(int fd) {
  pollfd asked{fd, POLLOUT, 0};
  return ::poll(&asked, 1, 0) == 1;
}

TEST(OrderPipeTest, CanBeWrittenAgainWhenItsLastByteWasRead) {
  const FdPair ends = MakeOrderPipe().value();
  const int out = ends.second.get();
  EXPECT_TRUE(TellsWhenRead(out));
  EXPECT_TRUE(TellsWhenRead(ends.first.get())) << "either end is asked";
  EXPECT_TRUE(CanWrite(out));
  EXPECT_TRUE(IsRead(out)) << "there is nothing to read";
  ASSERT_EQ(::write(out, ".+", 2), 2);
  EXPECT_FALSE(CanWrite(out));
  EXPECT_FALSE(IsRead(out));
  char byte = 0;
  ASSERT_EQ(::read(ends.first.get(), &byte, 1), 1);
  EXPECT_FALSE(CanWrite(out)) << "one is left";
  EXPECT_FALSE(IsRead(out));
  ASSERT_EQ(::read(ends.first.get(), &byte, 1), 1);
  EXPECT_TRUE(CanWrite(out));
  EXPECT_TRUE(IsRead(out));
}

TEST(OrderPipeTest, AUsualPipeDoesNotTell) {
  const FdPair ends = MakePipe().value();
  EXPECT_FALSE(TellsWhenRead(ends.second.get()));
  ASSERT_EQ(::write(ends.second.get(), "x", 1), 1);
  EXPECT_TRUE(CanWrite(ends.second.get()));
}

TEST(OrderPipeTest, AWidenedOneTakesMuchAtOnceAndDoesNotTell) {
  const FdPair ends = MakeOrderPipe().value();
  const int out = ends.second.get();
  ::fcntl(out, F_SETFL, O_NONBLOCK);
  const std::string much(60'000, 'x');
  ASSERT_LT(::write(out, much.data(), much.size()), 60'000);
  Widen(out);
  EXPECT_FALSE(TellsWhenRead(out));
  EXPECT_GT(::write(out, much.data(), 50'000), 40'000);
}

TEST(OrderPipeTest, WhatIsNoPipeTellsNothing) {
  EXPECT_FALSE(TellsWhenRead(-1));
  EXPECT_FALSE(IsRead(-1));
}

}  // namespace
}  // namespace igloo::session
