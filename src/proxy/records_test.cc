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

  FdPair pair_ = [] {
    FdPair pair = MakeSocketPair(SOCK_SEQPACKET).value();
    EXPECT_TRUE(SetNonBlocking(pair.first.get()) && SetNonBlocking(pair.second.get()));
    return pair;
  }();
  asio::io_context loop_ = asio::io_context(1);
  Records records_ = Records(loop_.get_executor(), pair_.second.get());
  std::uint64_t lost_ = 0;
  unsigned packets_ = 0;
};

TEST_F(RecordsTest, NewPlacesAndRefusalsAreThereAtOnce) {
  records_.Add(Of(Event::kOpened, 1));
  EXPECT_THAT(Told(), ElementsAre("opened 1"));
  records_.Add(Of(Event::kRefused, 2));
  EXPECT_THAT(Told(), ElementsAre("refused 2"));
  Record ended = Of(Event::kEnded, 1);
  ended.refusal = "the list was changed";
  records_.Add(ended);
  EXPECT_THAT(Told(), ElementsAre("ended 1"));
}

/// Code chooses the words: they are no way to make a record too long to be told.
TEST_F(RecordsTest, LongWordsAreShortenedAndARuleIsWholeOrNotThere) {
  Record refused = Of(Event::kRefused, 1);
  refused.refusal = std::string(200'000, 'x');
  refused.remedy = std::string(200'000, 'y');
  records_.Add(Of(Event::kOpened, 2), Place::kKnown);
  records_.Add(refused);
  const auto packet = network::ReceivePacket(pair_.first.get());
  ASSERT_TRUE(packet && *packet);
  const auto news = network::DecodeNews((*packet)->text);
  ASSERT_TRUE(news && news->size() == 2);
  const Record& told = std::get<Record>((*news)[1]);
  EXPECT_EQ(told.refusal.size(), 512U);
  EXPECT_EQ(told.remedy, "");
}

TEST_F(RecordsTest, WhatCanWaitComesTogetherAndOnce) {
  records_.Add(Of(Event::kOpened, 1), Place::kKnown);
  records_.Add(Of(Event::kEnded, 1));
  records_.Add(Of(Event::kOpened, 2), Place::kKnown);
  records_.Add(Of(Event::kEnded, 3));
  EXPECT_THAT(Told(), IsEmpty());
  loop_.run();
  EXPECT_THAT(Told(), ElementsAre("ended 1", "opened 2", "ended 3"));
  EXPECT_EQ(packets_, 1U);
  // One that was told as open is told again when it ends.
  records_.Add(Of(Event::kEnded, 2));
  loop_.restart();
  loop_.run();
  EXPECT_THAT(Told(), ElementsAre("ended 2"));
}

TEST_F(RecordsTest, WhatCannotWaitTakesWhatCameBeforeAlong) {
  records_.Add(Of(Event::kOpened, 1), Place::kKnown);
  records_.Add(Of(Event::kEnded, 2));
  records_.Add(Of(Event::kRefused, 3));
  EXPECT_THAT(Told(), ElementsAre("opened 1", "ended 2", "refused 3"));
  records_.Add(Of(Event::kEnded, 1));
  records_.Say(network::Done{1});
  EXPECT_THAT(Told(), ElementsAre("ended 1", "done"));
}

TEST_F(RecordsTest, NeverWaitInAnyNumber) {
  for (std::uint64_t i = 1; i <= 64; ++i) records_.Add(Of(Event::kEnded, i));
  EXPECT_EQ(Told().size(), 64U) << "without a turn of the event loop";
}

TEST_F(RecordsTest, ThatNobodyTakesAreCountedWhenThereAreTooMany) {
  constexpr std::uint64_t kMany = 20'000;
  for (std::uint64_t i = 1; i <= kMany; ++i) records_.Add(Of(Event::kRefused, i));
  records_.Say(network::Done{1});
  std::size_t told = 0;
  while (true) {
    const std::size_t now = Told().size();
    if (now == 0) break;
    told += now;
    loop_.restart();
    loop_.run_one();
  }
  records_.Add(Of(Event::kRefused, kMany + 1));
  EXPECT_THAT(Told(), ElementsAre("refused 20001"));
  // All but the answer are records; none is missing without being counted.
  EXPECT_EQ(told - 1 + lost_, kMany);
  EXPECT_GT(lost_, 0U);
}

}  // namespace
}  // namespace igloo::proxy
