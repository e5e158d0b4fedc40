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

TEST(CappedTextTest, BytesAreKeptAsTheyAre) {
  CappedText text(10);
  text.Append(std::string_view("a\0\xff", 3));
  EXPECT_EQ(text.kept(), std::string("a\0\xff", 3));
}

}  // namespace
}  // namespace igloo::session
