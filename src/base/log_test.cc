#include "base/log.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace igloo {
namespace {

TEST(BaseLogTest, ItsSinkGetsEveryTextWithItsLevel) {
  std::vector<std::pair<Log::Level, std::string>> heard;
  const Log log([&](Log::Level level, std::string_view text) { heard.emplace_back(level, text); });
  const Log copy = log;
  const std::function<void(std::string_view)> warn = copy.At(Log::Level::kWarning);
  log.At(Log::Level::kInfo)("one");
  warn("two");
  EXPECT_TRUE(log.At(Log::Level::kDebug));
  EXPECT_EQ(heard, (std::vector<std::pair<Log::Level, std::string>>{
                       {Log::Level::kInfo, "one"}, {Log::Level::kWarning, "two"}}));
}

TEST(BaseLogTest, WithoutASinkNothingIsSaid) {
  for (const Log& log : {Log(), Log(Log::Sink())}) {
    EXPECT_FALSE(log.At(Log::Level::kError));
    log.At(Log::Level::kError)("nobody hears it");
  }
}

TEST(BaseLogTest, ALineOutlivesItsLog) {
  std::string heard;
  auto line = Log([&](Log::Level, std::string_view text) { heard = text; }).At(Log::Level::kError);
  line("late");
  EXPECT_EQ(heard, "late");
}

TEST(BaseLogTest, AFunctionIsALineAndAnEmptyOneIsNone) {
  std::string heard;
  const Log::Line line = [&](std::string_view text) { heard += text; };
  line("a");
  const std::function<void(std::string_view)> nobody;
  const Log::Line none = nobody;
  EXPECT_FALSE(none);
  none("b");
  EXPECT_EQ(heard, "a");
}

}  // namespace
}  // namespace igloo
