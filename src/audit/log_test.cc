#include "audit/log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "audit/journal.h"
#include "base/temp_dir.h"
#include "support/igloo.h"

namespace igloo::audit {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class LogTest : public ::testing::Test {
 protected:
  const std::string& Directory() const { return top_.path(); }
  static Record Numbered(int number) {
    return {.time = Time(std::chrono::seconds(number)), .session = std::to_string(number)};
  }
  void Add(std::string_view text, unsigned age = 0) const {
    std::ofstream(JournalFile(Directory(), age), std::ios::app) << text;
  }
  void Add(int number, unsigned age = 0) const { Add(Encode(Numbered(number)), age); }

  struct Query {
    std::size_t limit = 20;
    Time since = Time::min();
    std::function<bool(const Record&)> wanted = {};  ///< empty: all
  };
  std::vector<std::string> Find(const Query& query) {
    const auto log = Log::Open(Directory());
    EXPECT_TRUE(log);
    const auto wanted = [&](const std::string& line) -> Result<bool> {
      IGLOO_ASSIGN(const Record record, Decode(line));
      return record.time >= query.since && (!query.wanted || query.wanted(record));
    };
    const auto places =
        log->FindLast({.limit = query.limit, .since = query.since, .wanted = wanted}, broken_);
    EXPECT_TRUE(places);
    std::vector<std::string> sessions;
    for (const Log::Place& place : *places) {
      sessions.push_back(Decode(log->Line(place).value()).value().session);
    }
    return sessions;
  }
  std::vector<std::string> Read(LogTail& tail) {
    std::vector<std::string> sessions;
    const auto read = tail.Read(
        [&](const std::string& line) -> Result<bool> {
          IGLOO_ASSIGN(const Record record, Decode(line));
          sessions.push_back(record.session);
          return true;
        },
        broken_);
    EXPECT_TRUE(read.value_or(false));
    return sessions;
  }
  LogTail Tail() const { return LogTail(Directory(), Log::Open(Directory()).value()); }

  TempDir top_ = TempDir::Make(igloo::testing::TempParent()).value();
  Broken broken_ = {};
};

TEST_F(LogTest, ThereNeedNotBeOne) {
  EXPECT_TRUE(Log::Open(Directory()).value().empty());
  EXPECT_TRUE(Log::Open(Directory() + "/no/where").value().empty());
  EXPECT_THAT(Find({}), IsEmpty());
}

TEST_F(LogTest, ReadsTheLastOnesAcrossFiles) {
  for (int i = 0; i < 9; ++i) Add(i, static_cast<unsigned>(2 - i / 3));
  EXPECT_THAT(Find({.limit = 2}), ElementsAre("7", "8"));
  EXPECT_THAT(Find({.limit = 5}), ElementsAre("4", "5", "6", "7", "8"));
  EXPECT_THAT(Find({.limit = 100}), ElementsAre("0", "1", "2", "3", "4", "5", "6", "7", "8"));
}

TEST_F(LogTest, FindsFilesBehindAGap) {
  Add(1, 3);
  Add(2, 0);
  EXPECT_THAT(Find({}), ElementsAre("1", "2"));
}

TEST_F(LogTest, FiltersAndLooksBackToATime) {
  for (int i = 0; i < 9; ++i) Add(i);
  const auto odd = [](const Record& record) {
    return record.time.time_since_epoch().count() / 1000 % 2;
  };
  EXPECT_THAT(Find({.limit = 2, .wanted = odd}), ElementsAre("5", "7"));
  EXPECT_THAT(Find({.since = Time(std::chrono::seconds(6))}), ElementsAre("6", "7", "8"));
}

TEST_F(LogTest, ACallThatBeganEarlierAndEndedLaterHidesNothing) {
  Add(5);
  Add(1);
  Add(6);
  EXPECT_THAT(Find({.since = Time(std::chrono::seconds(5))}), ElementsAre("5", "6"));
}

TEST_F(LogTest, BrokenLinesAreCountedAndNamed) {
  Add(1);
  Add("{\"time\":\n\n");
  Add(2);
  Add(std::string(kMaxLine + 1, 'x') + "\n");
  Add(3);
  Add("{\"time\":\"2026");
  EXPECT_THAT(Find({}), ElementsAre("1", "2", "3"));
  EXPECT_EQ(broken_.count, 3U);
  EXPECT_THAT(broken_.example, HasSubstr("runs.jsonl' at byte "));
  EXPECT_THAT(broken_.example, HasSubstr(": it is cut off"));
}

TEST_F(LogTest, LinesOfAnyLengthAreFoundAcrossBlocks) {
  for (int i = 0; i < 40; ++i) {
    Record record = Numbered(i);
    record.code = std::string(static_cast<std::size_t>(i) * 3271, 'x');
    Add(Encode(record));
  }
  EXPECT_EQ(Find({.limit = 100}).size(), 40U);
  EXPECT_EQ(broken_.count, 0U);
}

TEST_F(LogTest, TheEndOfAHundredThousandRecordsIsReadWithoutTheRest) {
  // It begins with what is no record: who reads only the end does not notice.
  std::string text = "what is this\n";
  const std::string line = Encode(Numbered(7));
  for (int i = 0; i < 100'000; ++i) text += line;
  Add(text);
  EXPECT_THAT(Find({.limit = 3}), ElementsAre("7", "7", "7"));
  EXPECT_EQ(broken_.count, 0U);
  EXPECT_EQ(Find({.limit = 20'000}).size(), 20'000U);
  EXPECT_EQ(broken_.count, 0U);
}

TEST_F(LogTest, ATailBeginsWhereTheLogEnded) {
  Add(1);
  LogTail tail = Tail();
  EXPECT_THAT(Read(tail), IsEmpty());
  Add(2);
  Add(3);
  EXPECT_THAT(Read(tail), ElementsAre("2", "3"));
  EXPECT_THAT(Read(tail), IsEmpty());
}

TEST_F(LogTest, ATailWaitsForTheEndOfALine) {
  LogTail tail = Tail();
  const std::string line = Encode(Numbered(1));
  Add(line.substr(0, 20));
  EXPECT_THAT(Read(tail), IsEmpty());
  Add(line.substr(20));
  EXPECT_THAT(Read(tail), ElementsAre("1"));
  Add("broken\n" + std::string(2 * kMaxLine, 'x') + "\n");
  Add(2);
  EXPECT_THAT(Read(tail), ElementsAre("2"));
  EXPECT_EQ(broken_.count, 2U);
}

TEST_F(LogTest, ATailSurvivesRotationsAndNewDirectories) {
  Journal journal({.directory = Directory() + "/later", .rotate_bytes = 1, .keep = 3});
  LogTail tail(Directory() + "/later", Log::Open(Directory() + "/later").value());
  EXPECT_THAT(Read(tail), IsEmpty());
  ASSERT_TRUE(journal.Write(Numbered(1)));
  EXPECT_THAT(Read(tail), ElementsAre("1"));
  for (int i = 2; i <= 4; ++i) ASSERT_TRUE(journal.Write(Numbered(i)));
  EXPECT_THAT(Read(tail), ElementsAre("2", "3", "4"));
  for (int i = 5; i <= 20; ++i) ASSERT_TRUE(journal.Write(Numbered(i)));
  EXPECT_THAT(Read(tail), ElementsAre("17", "18", "19", "20")) << "the rest is gone by now";
  // A writer that had the old file open and had looked at its name just before.
  std::ofstream(JournalFile(Directory() + "/later", 1), std::ios::app) << Encode(Numbered(21));
  EXPECT_THAT(Read(tail), ElementsAre("21"));
  fs::remove_all(Directory() + "/later");
  EXPECT_THAT(Read(tail), IsEmpty());
  ASSERT_TRUE(journal.Write(Numbered(22)));
  EXPECT_THAT(Read(tail), ElementsAre("22"));
}

TEST_F(LogTest, ATailBeginsAnewInAFileThatWasEmptied) {
  Add(1);
  Add(2);
  LogTail tail = Tail();
  fs::resize_file(JournalFile(Directory()), 0);
  Add(3);
  EXPECT_THAT(Read(tail), ElementsAre("3"));
}

}  // namespace
}  // namespace igloo::audit
