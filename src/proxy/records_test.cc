#include "proxy/records.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>

#include "base/file.h"
#include "network/channel.h"

namespace igloo::proxy {
namespace {

using network::Record;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using Event = Record::Event;
using Place = Records::Place;

class RecordsTest : public ::testing::Test {
 protected:
  /// What has arrived: "opened 1", "done", ...
  std::vector<std::string> Told() {
    std::vector<std::string> told;
    while (true) {
      const auto packet = network::ReceivePacket(pair_.first.get());
      if (!packet || !*packet) return told;
      ++packets_;
      const auto news = network::DecodeNews((*packet)->text);
      for (const auto& each : news.value()) {
        const auto* record = std::get_if<Record>(&each);
        told.push_back(record != nullptr ? std::string(ToText(record->event)) + " " +
                                               std::to_string(record->connection)
                                         : "done");
        if (record != nullptr) lost_ += record->lost;
      }
    }
  }
  static Record Of(Event event, std::uint64_t connection) {
    return {
        .event = event, .connection = connection, .refusal = event == Event::kRefused ? "no" : ""};
  }

  void Add(Record record, Place place = Place::kNew) {
    records_.Add(std::move(record), backlog_, place);
  }

  FdPair pair_ = [] {
    FdPair pair = MakeSocketPair(SOCK_SEQPACKET).value();
    EXPECT_TRUE(SetNonBlocking(pair.first.get()) && SetNonBlocking(pair.second.get()));
    return pair;
  }();
  asio::io_context loop_ = asio::io_context(1);
  Records records_ = Records(loop_.get_executor(), pair_.second.get());
  std::shared_ptr<Backlog> backlog_ = std::make_shared<Backlog>(loop_.get_executor());
  std::uint64_t lost_ = 0;
  unsigned packets_ = 0;
};

TEST_F(RecordsTest, NewPlacesAndRefusalsAreThereAtOnce) {
  Add(Of(Event::kOpened, 1));
  EXPECT_THAT(Told(), ElementsAre("opened 1"));
  Add(Of(Event::kRefused, 2));
  EXPECT_THAT(Told(), ElementsAre("refused 2"));
  Record ended = Of(Event::kEnded, 1);
  ended.refusal = "the list was changed";
  Add(ended);
  EXPECT_THAT(Told(), ElementsAre("ended 1"));
}

/// Code chooses the words: they are no way to make a record too long to be told.
TEST_F(RecordsTest, LongWordsAreShortenedAndARuleIsWholeOrNotThere) {
  Record refused = Of(Event::kRefused, 1);
  refused.refusal = std::string(200'000, 'x');
  refused.remedy = std::string(200'000, 'y');
  Add(Of(Event::kOpened, 2), Place::kKnown);
  Add(refused);
  const auto packet = network::ReceivePacket(pair_.first.get());
  ASSERT_TRUE(packet && *packet);
  const auto news = network::DecodeNews((*packet)->text);
  ASSERT_TRUE(news && news->size() == 2);
  const Record& told = std::get<Record>((*news)[1]);
  EXPECT_EQ(told.refusal.size(), 512U);
  EXPECT_EQ(told.remedy, "");
}

TEST_F(RecordsTest, WhatCanWaitComesTogetherAndOnce) {
  Add(Of(Event::kOpened, 1), Place::kKnown);
  Add(Of(Event::kEnded, 1));
  Add(Of(Event::kOpened, 2), Place::kKnown);
  Add(Of(Event::kEnded, 3));
  EXPECT_THAT(Told(), IsEmpty());
  loop_.run();
  EXPECT_THAT(Told(), ElementsAre("ended 1", "opened 2", "ended 3"));
  EXPECT_EQ(packets_, 1U);
  // One that was told as open is told again when it ends.
  Add(Of(Event::kEnded, 2));
  loop_.restart();
  loop_.run();
  EXPECT_THAT(Told(), ElementsAre("ended 2"));
}

TEST_F(RecordsTest, WhatCannotWaitTakesWhatCameBeforeAlong) {
  Add(Of(Event::kOpened, 1), Place::kKnown);
  Add(Of(Event::kEnded, 2));
  Add(Of(Event::kRefused, 3));
  EXPECT_THAT(Told(), ElementsAre("opened 1", "ended 2", "refused 3"));
  Add(Of(Event::kEnded, 1));
  records_.Say(network::Done{1});
  EXPECT_THAT(Told(), ElementsAre("ended 1", "done"));
}

TEST_F(RecordsTest, NeverWaitInAnyNumber) {
  for (std::uint64_t i = 1; i <= 64; ++i) Add(Of(Event::kEnded, i));
  EXPECT_EQ(Told().size(), 64U) << "without a turn of the event loop";
}

/// Asks for things of which each is refused, as fast as it may.
asio::awaitable<void> Flood(Records& records, std::shared_ptr<Backlog> backlog,
                            std::uint64_t requests, std::uint64_t& decided) {
  while (decided < requests) {
    if (backlog->full()) co_await backlog->Room();
    Record refused{.event = Event::kRefused, .connection = ++decided, .refusal = "no"};
    records.Add(std::move(refused), backlog);
  }
}

TEST_F(RecordsTest, ThatNobodyTakesHoldWhoeverFloodsAndNoneIsLost) {
  constexpr std::uint64_t kMany = 20'000;
  std::uint64_t decided = 0;
  asio::co_spawn(loop_, Flood(records_, backlog_, kMany, decided), asio::detached);
  loop_.poll();
  EXPECT_LT(decided, 2 * Backlog::kMost) << "some fit into the socket";
  const std::uint64_t held_at = decided;
  // Another sandbox goes on, and an answer waits for no room.
  const auto other = std::make_shared<Backlog>(loop_.get_executor());
  EXPECT_FALSE(other->full());
  records_.Add(Of(Event::kRefused, kMany + 1), other);
  records_.Say(network::Done{1});
  loop_.poll();
  EXPECT_EQ(decided, held_at);
  std::vector<std::string> expected, told;
  for (std::uint64_t i = 1; i <= kMany; ++i) expected.push_back("refused " + std::to_string(i));
  expected.insert(expected.begin() + static_cast<std::ptrdiff_t>(held_at),
                  {"refused " + std::to_string(kMany + 1), "done"});
  while (told.size() < expected.size()) {
    std::ranges::move(Told(), std::back_inserter(told));
    loop_.restart();
    ASSERT_TRUE(loop_.poll() > 0 || told.size() == expected.size()) << told.size();
  }
  EXPECT_EQ(told, expected);
  EXPECT_EQ(lost_, 0U);
}

TEST_F(RecordsTest, HoldNobodyOnceIglooHasGone) {
  std::uint64_t decided = 0;
  asio::co_spawn(loop_, Flood(records_, backlog_, 20'000, decided), asio::detached);
  loop_.poll();
  EXPECT_TRUE(backlog_->full());
  pair_.first.Reset();
  loop_.run();
  EXPECT_EQ(decided, 20'000U);
}

TEST_F(RecordsTest, HoldNobodyOfASandboxThatEnds) {
  std::uint64_t decided = 0;
  asio::co_spawn(loop_, Flood(records_, backlog_, 4000, decided), asio::detached);
  loop_.poll();
  EXPECT_TRUE(backlog_->full());
  backlog_->Close();
  loop_.poll();
  EXPECT_EQ(decided, 4000U);
}

}  // namespace
}  // namespace igloo::proxy
