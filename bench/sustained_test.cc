#include "bench/sustained.h"

#include <gmock/gmock.h>

namespace igloo::bench {
namespace {

using ::testing::ElementsAre;

TEST(RatesOf, CountsRunsInTheWindowInWhichTheyEnded) {
  const Windows windows{.count = 2, .millis = 500};
  // Before the beginning and behind the end nothing counts.
  const std::vector<double> ends = {999'000, 1'000'000, 1'499'999, 1'500'000, 2'000'001};
  EXPECT_THAT(RatesOf(ends, 1'000'000, windows), ElementsAre(4, 2));
}

TEST(Sustained, TellsHowTheLastWindowComparesWithTheFirst) {
  Sustained sustained;
  EXPECT_EQ(sustained.last_of_first(), 0);
  sustained.rates = {200, 10, 150};
  EXPECT_EQ(sustained.rate(), 150);
  EXPECT_EQ(sustained.last_of_first(), 0.75);
}

TEST(Sustain, OneWorkersFailureIsTheResult) {
  const auto failing = [] {
    return [] { return Result<double>(Fail(Errc::kInternal, "broken")); };
  };
  const Sustained result = Sustain("key", "name", failing, {.count = 1, .millis = 1});
  EXPECT_EQ(result.failure, "broken");
  EXPECT_TRUE(result.rates.empty());
}

}  // namespace
}  // namespace igloo::bench
