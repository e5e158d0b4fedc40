#include "session/interpreter_life.h"

#include <gtest/gtest.h>

#include <functional>

namespace igloo::session {
namespace {

const wire::Ended kExited{.kind = wire::EndKind::kExited, .status = 3};
const Error kWhy{.code = Errc::kTimeout, .what = "why", .hint = {}, .sys_errno = 0};

using State = InterpreterLife::State;

InterpreterLife In(State state) {
  InterpreterLife life;
  if (state == State::kReady) life.BecomeReady();
  if (state == State::kEnding) life.RunOutOfMemory();
  if (state == State::kEnded) life.End(kExited, false);
  if (state == State::kGone) life.Fail(kWhy);
  return life;
}

constexpr State kAll[] = {State::kStarting, State::kReady, State::kEnding, State::kEnded,
                          State::kGone};

void ExpectLeadsTo(const std::function<void(InterpreterLife&)>& event,
                   const State (&next)[std::size(kAll)]) {
  for (std::size_t i = 0; i < std::size(kAll); ++i) {
    InterpreterLife life = In(kAll[i]);
    ASSERT_EQ(life.state(), kAll[i]);
    event(life);
    EXPECT_EQ(life.state(), next[i]) << "from state " << i;
  }
}

TEST(InterpreterLifeTest, EachEventLeadsFromEachStateToWhatTheTableSays) {
  using enum State;
  ExpectLeadsTo([](auto& life) { life.BecomeReady(); }, {kReady, kReady, kEnding, kEnded, kGone});
  ExpectLeadsTo([](auto& life) { life.RunOutOfMemory(); },
                {kEnding, kEnding, kEnding, kEnded, kGone});
  ExpectLeadsTo([](auto& life) { life.End(kExited, false); },
                {kEnded, kEnded, kEnded, kEnded, kGone});
  ExpectLeadsTo([](auto& life) { life.Fail(kWhy); }, {kGone, kGone, kGone, kGone, kGone});
}

TEST(InterpreterLifeTest, OneIsReadyOnce) {
  InterpreterLife life;
  EXPECT_TRUE(life.BecomeReady());
  EXPECT_FALSE(life.BecomeReady()) << "the second time it is somebody else";
  life.End(kExited, false);
  EXPECT_FALSE(life.BecomeReady()) << "a late word of one that has ended";
}

TEST(InterpreterLifeTest, ANewOneStartsWhenTheLastHasEndedAndTellsHow) {
  InterpreterLife life = In(State::kEnded);
  const auto last = life.Renew();
  EXPECT_EQ(last.how, kExited);
  EXPECT_FALSE(last.out_of_memory);
  EXPECT_EQ(life.state(), State::kStarting);
  EXPECT_TRUE(life.BecomeReady());
}

TEST(InterpreterLifeTest, AnEndForMemoryIsRememberedAsOne) {
  InterpreterLife life = In(State::kEnding);
  life.End(kExited, false);
  EXPECT_TRUE(life.ended()->out_of_memory);
  EXPECT_FALSE(life.RunOutOfMemory()) << "known";
  life.Renew();
  life.End(kExited, false);
  EXPECT_FALSE(life.ended()->out_of_memory) << "that was the one before";
  EXPECT_TRUE(life.RunOutOfMemory());
  EXPECT_TRUE(life.ended()->out_of_memory) << "the limit was noticed after the end";
}

TEST(InterpreterLifeTest, TheFirstFailureCountsAndWhatEndedStaysKnown) {
  InterpreterLife life = In(State::kEnded);
  life.Fail(kWhy);
  life.Fail({.code = Errc::kProtocol, .what = "later", .hint = {}, .sys_errno = 0});
  EXPECT_EQ(*life.failure(), kWhy);
  EXPECT_EQ(life.ended()->how, kExited);
  InterpreterLife lost = In(State::kGone);
  EXPECT_FALSE(lost.ended());
  lost.End(kExited, true);
  EXPECT_EQ(lost.ended()->how, kExited) << "its report came after all";
}

TEST(MemorySharingTest, OnlyOneThatLendsIsEndedLater) {
  using End = MemorySharing::End;
  MemorySharing sharing;
  EXPECT_EQ(sharing.state(), MemorySharing::State::kAlone);
  EXPECT_FALSE(sharing.PutOff(End::kKill));
  sharing.Borrow();
  EXPECT_FALSE(sharing.PutOff(End::kKill)) << "a copy ends whenever it likes";
  EXPECT_EQ(sharing.Finish(), End::kNone);
  sharing.Lend();
  EXPECT_EQ(sharing.state(), MemorySharing::State::kLends);
  EXPECT_TRUE(sharing.PutOff(End::kClose));
  EXPECT_TRUE(sharing.PutOff(End::kKill)) << "nobody uses it again";
  EXPECT_EQ(sharing.Finish(), End::kClose);
  EXPECT_EQ(sharing.state(), MemorySharing::State::kAlone);
  EXPECT_EQ(sharing.Finish(), End::kNone) << "it is done once";
}

}  // namespace
}  // namespace igloo::session
