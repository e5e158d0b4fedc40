#include "session/output.h"

#include <gtest/gtest.h>

namespace igloo::session {
namespace {

TEST(CappedTextTest, KeepsAllBelowTheLimit) {
  CappedText text(10);
  text.Append("hello");
  text.Append("");
  text.Append("world");
  EXPECT_EQ(text.kept(), "helloworld");
  EXPECT_EQ(text.total(), 10U);
  EXPECT_FALSE(text.cut()) << "exactly the limit is not cut";
}

TEST(CappedTextTest, KeepsTheFirstBytesAndCountsTheRest) {
  CappedText text(4);
  text.Append("abc");
  text.Append("defg");
  text.Append("h");
  EXPECT_EQ(text.kept(), "abcd");
  EXPECT_EQ(text.total(), 8U);
  EXPECT_TRUE(text.cut());
}

TEST(CappedTextTest, ALimitOfZeroOnlyCounts) {
  CappedText text(0);
  EXPECT_FALSE(text.cut());
  text.Append("abc");
  EXPECT_EQ(text.kept(), "");
  EXPECT_EQ(text.total(), 3U);
  EXPECT_TRUE(text.cut());
}

TEST(CappedTextTest, TheEndIsKeptToo) {
  CappedText text(8, Keep::kFirstAndLast);
  std::string all;
  for (const char* each : {"ab", "cdefg", "h", "ijklmnopqrstuv", "", "wx"}) {
    text.Append(each);
    all += each;
    const std::string wanted_last = all.substr(std::min<std::size_t>(all.size(), 4));
    EXPECT_EQ(text.omitted(), all.size() > 8 ? all.size() - 8 : 0);
    EXPECT_EQ(text.kept(), all.size() > 8 ? all.substr(0, 4) : all);
    EXPECT_EQ(text.last(), wanted_last.substr(wanted_last.size() -
                                              std::min<std::size_t>(wanted_last.size(), 4)));
  }
  EXPECT_EQ(text.total(), all.size());
  EXPECT_TRUE(text.cut());
}

TEST(CappedTextTest, BytesAreKeptAsTheyAre) {
  CappedText text(10);
  text.Append(std::string_view("a\0\xff", 3));
  EXPECT_EQ(text.kept(), std::string("a\0\xff", 3));
}

}  // namespace
}  // namespace igloo::session
