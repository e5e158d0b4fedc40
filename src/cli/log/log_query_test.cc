#include "cli/log/log_query.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "config/schema.h"
#include "session/verdict.h"

namespace igloo::cli {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using namespace std::chrono_literals;

constexpr audit::Time kNow = audit::Time(1'794'741'230'123ms);

TEST(ParseSinceTest, TakesHowLongAgo) {
  EXPECT_EQ(ParseSince("90s", kNow), kNow - 90s);
  EXPECT_EQ(ParseSince("15m", kNow), kNow - 15min);
  EXPECT_EQ(ParseSince("2h", kNow), kNow - 2h);
  EXPECT_EQ(ParseSince("3d", kNow), kNow - 72h);
  EXPECT_EQ(ParseSince("1w", kNow), kNow - 168h);
  EXPECT_EQ(ParseSince("100000000w", kNow), kNow - std::chrono::weeks(100'000'000));
}

TEST(ParseSinceTest, TakesTimes) {
  for (const char* text : {"2026-11-15T11:13:50Z", "2026-11-15 11:13:50Z"}) {
    EXPECT_EQ(ParseSince(text, kNow), audit::Time(1'794'741'230s)) << text;
  }
  EXPECT_EQ(ParseSince("2026-11-15 11:13Z", kNow), audit::Time(1'794'741'180s));
  EXPECT_EQ(ParseSince("2024-02-29Z", kNow), audit::Time(1'709'164'800s));
}

TEST(ParseSinceTest, RefusesEverythingElse) {
  for (const char* text :
       {"", "5", "m", "-5m", "5 m", "5y", "1.5h", "99999999999s", "100000001w", "yesterday",
        "2026-02-30Z", "2026-13-01", "2026-01-01 25:00", "2026-01-01T", "2026-01-01 12:00 CET"}) {
    const auto parsed = ParseSince(text, kNow);
    ASSERT_FALSE(parsed) << text;
    EXPECT_EQ(parsed.error().code, Errc::kInvalidArgument);
    EXPECT_THAT(parsed.error().hint, HasSubstr("15m, 2h"));
  }
}

TEST(LogQueryTest, WantsWhatWasAskedFor) {
  const audit::Record record{
      .time = kNow, .client = "claude-code 2.0", .environment = "python", .verdict = "ok"};
  EXPECT_TRUE(LogQuery{}.Wants(record));
  EXPECT_TRUE(
      (LogQuery{.since = kNow, .environment = "python", .client = "claude-code", .verdict = "ok"})
          .Wants(record));
  EXPECT_TRUE(LogQuery{.client = "claude-code 2.0"}.Wants(record));
  EXPECT_FALSE(LogQuery{.client = "claude"}.Wants(record));
  EXPECT_FALSE(LogQuery{.client = "claude-code 2.0.1"}.Wants(record));
  EXPECT_FALSE(LogQuery{.environment = "node"}.Wants(record));
  EXPECT_FALSE(LogQuery{.verdict = "exit"}.Wants(record));
  EXPECT_FALSE(LogQuery{.since = kNow + 1ms}.Wants(record));
}

TEST(LogQueryTest, EveryVerdictOfARunCanBeAskedFor) {
  using enum session::Verdict;
  for (const auto verdict : {kOk, kExit, kSignal, kTimeout, kMemory, kProcesses, kDisk, kOutput,
                             kInterrupted, kKilled}) {
    EXPECT_THAT(config::Words(kLoggedVerdicts), Contains(session::Name(verdict)));
  }
}

}  // namespace
}  // namespace igloo::cli
