#include "jail/row.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/socket.h>

#include <cerrno>
#include <utility>
#include <vector>

#include "base/file.h"
#include "base/unique_fd.h"
#include "jail/channel.h"
#include "jail/template.h"

namespace igloo::jail {
namespace {

/// Plays a template: hears orders and answers them.
class RowOfATemplate : public testing::Test {
 protected:
  void SetUp() override {
    FdPair ends = MakeSocketPair(SOCK_STREAM).value();
    template_ = std::move(ends.second);
    FdPair lease = MakePipe().value();
    lease_ = std::move(lease.first);
    row_.Begin(7, {ends.first.Release(), lease.second.Release()}, 1000, 3);
  }
  ~RowOfATemplate() override {
    if (row_.used()) row_.Forget();
  }

  /// How many slots were ordered since the last call, and whether each came with a cgroup.
  std::vector<bool> Orders() {
    std::vector<bool> orders;
    char order = 0;
    while (::recv(template_.get(), &order, 1, MSG_PEEK | MSG_DONTWAIT) == 1) {
      int fds[1];
      unsigned count = 0;
      EXPECT_TRUE(ReceiveWithFds(template_.get(), &order, 1, fds, 1, count));
      CloseAll(fds, count);
      orders.push_back(count == 1);
    }
    return orders;
  }
  /// Answers an order. A pipe stands for the pidfd: readable means that the slot has ended.
  UniqueFd Deliver(uint32_t number) {
    FdPair alive = MakePipe().value();
    const FdPair socket = MakeSocketPair(SOCK_STREAM).value();
    const SlotMade made{.number = number, .pid = 1, .failure = {}};
    const int fds[2] = {socket.first.get(), alive.first.get()};
    EXPECT_TRUE(SendWithFds(template_.get(), &made, sizeof made, fds, 2));
    return std::move(alive.second);
  }
  void DeliverFailure(ops::Step step) {
    const SlotMade made{.number = 0, .pid = 0, .failure = {step, 0, EAGAIN}};
    EXPECT_TRUE(SendWithFds(template_.get(), &made, sizeof made, nullptr, 0));
  }

  UniqueFd template_ = {}, lease_ = {};
  Row row_ = {};
  Failure failure_ = {};
  Slot slot_ = {};
};

TEST_F(RowOfATemplate, OrdersAsManySlotsAsShouldWait) {
  while (row_.LacksSlots()) row_.Order();
  EXPECT_EQ(Orders().size(), Row::kReady);
}

TEST_F(RowOfATemplate, HandsOutASlotThatWaitsWithoutAnOrder) {
  row_.Order();
  EXPECT_EQ(Orders().size(), 1U);
  const UniqueFd alive = Deliver(4);
  row_.Take();
  ASSERT_TRUE(row_.Next(slot_, failure_));
  EXPECT_EQ(slot_.number, 4U);
  EXPECT_TRUE(Orders().empty());
  DropSlot(slot_);
}

TEST_F(RowOfATemplate, DoesNotHandOutASlotThatHasEnded) {
  for (int i = 0; i < 2; ++i) row_.Order();
  const UniqueFd first = Deliver(1);
  UniqueFd second = Deliver(2);
  row_.Take();
  row_.Take();
  second.Reset();
  ASSERT_TRUE(row_.Next(slot_, failure_));
  EXPECT_EQ(slot_.number, 1U);
  DropSlot(slot_);
}

TEST_F(RowOfATemplate, TakesAnOrderedSlotInsteadOfOrderingAnother) {
  row_.Order();
  const UniqueFd alive = Deliver(9);
  ASSERT_TRUE(row_.Next(slot_, failure_));
  EXPECT_EQ(slot_.number, 9U);
  EXPECT_EQ(Orders().size(), 1U);
  DropSlot(slot_);
}

TEST_F(RowOfATemplate, OrdersOneForACgroupBehindThoseThatWereOrderedBefore) {
  row_.Order();
  const UniqueFd waiting = Deliver(1);
  const UniqueFd born = Deliver(2);
  ASSERT_TRUE(row_.NextIn(template_.get(), slot_, failure_));
  EXPECT_EQ(slot_.number, 2U);
  EXPECT_EQ(Orders(), (std::vector<bool>{false, true}));
  DropSlot(slot_);
  ASSERT_TRUE(row_.Next(slot_, failure_));
  EXPECT_EQ(slot_.number, 1U);
  DropSlot(slot_);
}

TEST_F(RowOfATemplate, OrdersNoMoreAfterAFailureUntilARunAsks) {
  row_.Order();
  DeliverFailure(ops::Step::kTemplateFull);
  row_.Take();
  EXPECT_FALSE(row_.LacksSlots());
  const UniqueFd alive = Deliver(3);
  ASSERT_TRUE(row_.Next(slot_, failure_));
  EXPECT_TRUE(row_.LacksSlots());
  DropSlot(slot_);
}

TEST_F(RowOfATemplate, SaysWhyASlotCouldNotBeMadeAndStays) {
  DeliverFailure(ops::Step::kTemplateFull);
  EXPECT_FALSE(row_.Next(slot_, failure_));
  EXPECT_EQ(failure_.step, ops::Step::kTemplateFull);
  EXPECT_EQ(failure_.sys_errno, EAGAIN);
  EXPECT_TRUE(row_.used());
}

TEST_F(RowOfATemplate, EndsWhenItsTemplateIsGoneAndGivesTheLeaseBack) {
  template_.Reset();
  EXPECT_FALSE(row_.Next(slot_, failure_));
  EXPECT_EQ(failure_.step, ops::Step::kTemplateGone);
  if (row_.used()) row_.Forget();
  char end = 0;
  EXPECT_EQ(::read(lease_.get(), &end, 1), 0);
}

TEST_F(RowOfATemplate, NamesEveryDescriptorThatItHolds) {
  int fds[Row::kMaxDescriptors];
  EXPECT_EQ(row_.Descriptors(fds), 2U);
  row_.Order();
  const UniqueFd alive = Deliver(1);
  row_.Take();
  const unsigned count = row_.Descriptors(fds);
  EXPECT_EQ(count, 4U);
  for (unsigned i = 0; i < count; ++i) EXPECT_GE(::fcntl(fds[i], F_GETFD), 0) << i;
  row_.Forget();
  for (unsigned i = 0; i < count; ++i) EXPECT_EQ(::fcntl(fds[i], F_GETFD), -1) << i;
  EXPECT_EQ(row_.Descriptors(fds), 0U);
}

}  // namespace
}  // namespace igloo::jail
