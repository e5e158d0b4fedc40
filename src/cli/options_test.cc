#include "cli/options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace igloo::cli {
namespace {

using ::testing::HasSubstr;

TEST(ParseMemoryTest, TakesWholeMegabytes) {
  EXPECT_EQ(ParseMemory("16"), 16ULL << 20);
  EXPECT_EQ(ParseMemory("512"), 512ULL << 20);
  EXPECT_EQ(ParseMemory("1048576"), 1ULL << 40);
}

TEST(ParseMemoryTest, RefusesEverythingElse) {
  for (const char* text : {"", "0", "15", "1048577", "-1", "512M", "1.5", " 64", "0x40", "nan",
                           "99999999999999999999"}) {
    const auto parsed = ParseMemory(text);
    ASSERT_FALSE(parsed) << text;
    EXPECT_EQ(parsed.error().code, Errc::kInvalidArgument);
    EXPECT_THAT(parsed.error().hint, HasSubstr("--memory 512"));
  }
}

TEST(ParseTimeoutTest, TakesSecondsUpToADay) {
  EXPECT_EQ(ParseTimeout("2.5"), 2500U);
  EXPECT_EQ(ParseTimeout("0.0001"), 1U) << "never rounded to none at all";
  EXPECT_EQ(ParseTimeout("86400"), 86'400'000U);
  for (const char* text : {"", "0", "-1", "86401", "nan", "inf", "1s"}) {
    EXPECT_FALSE(ParseTimeout(text)) << text;
  }
}

}  // namespace
}  // namespace igloo::cli
