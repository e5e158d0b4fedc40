#include "cli/mcp/log_level.h"

#include <gtest/gtest.h>

namespace igloo::cli {
namespace {

TEST(FilterLevelTest, TakesWhatIsForTheProgramBeforeWhatIsForEverybody) {
  const auto level = [](std::string_view filter) { return FilterLevel(filter, "me"); };
  EXPECT_EQ(level("warn"), LogLevel::kWarn);
  EXPECT_EQ(level("WARN"), LogLevel::kWarn);
  EXPECT_EQ(level("me=error,debug"), LogLevel::kError);
  EXPECT_EQ(level("info, me = off"), LogLevel::kOff);
  EXPECT_EQ(level("you=trace,info"), LogLevel::kInfo);
  EXPECT_EQ(level("me"), LogLevel::kTrace);
  EXPECT_EQ(level("you=trace"), std::nullopt);
  EXPECT_EQ(level(""), std::nullopt);
  EXPECT_EQ(level("loud,me=loud,,"), std::nullopt);
}

}  // namespace
}  // namespace igloo::cli
