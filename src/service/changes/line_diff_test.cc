#include "service/changes/line_diff.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "service/changes/merge.h"

namespace igloo::service::changes {
namespace {

using ::testing::ElementsAre;

std::string After(const std::string& before, const std::string& after) {
  const auto a = LinesOf(before), b = LinesOf(after);
  const auto hunks = HunksOf(Compare(a, b), a.size(), b.size());
  return WithHunks(a, b, hunks, std::vector<bool>(hunks.size(), true));
}

std::string RandomText(std::mt19937& random, std::size_t lines) {
  std::string text;
  for (std::size_t i = 0; i < lines; ++i)
    text += std::string(1, static_cast<char>('a' + random() % 4)) + "\n";
  if (random() % 3 == 0) text += "no newline";
  return text;
}

TEST(LineDiffTest, FindsTheShortestEdits) {
  const auto before = LinesOf("a\nb\nc\nd\n"), after = LinesOf("a\nx\nc\nd\ne\n");
  EXPECT_THAT(Compare(before, after), ElementsAre(Edit{1, 2, 1, 2}, Edit{4, 4, 4, 5}));
  EXPECT_TRUE(Compare(before, before).empty());
  EXPECT_THAT(Compare({}, before), ElementsAre(Edit{0, 0, 0, 4}));
  EXPECT_THAT(Compare(before, {}), ElementsAre(Edit{0, 4, 0, 0}));
}

TEST(LineDiffTest, AllHunksMakeTheOtherText) {
  std::mt19937 random(1);  // NOLINT(cert-msc51-cpp)
  for (int i = 0; i < 2000; ++i) {
    const std::string a = RandomText(random, random() % 40), b = RandomText(random, random() % 40);
    ASSERT_EQ(After(a, b), b) << "from\n" << a;
  }
}

TEST(LineDiffTest, TextsWithLittleInCommonAreComparedInTime) {
  std::string a, b;
  for (int i = 0; i < 50'000; ++i) {
    a += "left " + std::to_string(i) + "\n";
    b += "right " + std::to_string(i) + "\n";
  }
  EXPECT_EQ(Compare(LinesOf(a), LinesOf(b)).size(), 1U);
}

TEST(LineDiffTest, NearEditsAreOneHunkAndDistantOnesTwo) {
  std::string before, after;
  for (int i = 1; i <= 30; ++i) {
    before += std::to_string(i) + "\n";
    after += (i == 2 || i == 7 || i == 20 ? "x" : std::to_string(i)) + "\n";
  }
  const auto a = LinesOf(before), b = LinesOf(after);
  const auto hunks = HunksOf(Compare(a, b), a.size(), b.size());
  ASSERT_EQ(hunks.size(), 2U);
  EXPECT_EQ(TextOf(hunks[1], a, b), "@@ -17,7 +17,7 @@\n 17\n 18\n 19\n-20\n+x\n 21\n 22\n 23\n");
  EXPECT_EQ(WithHunks(a, b, hunks, {true, false}).find("x\n8"),
            std::string("1\nx\n3\n4\n5\n6\n").size());
}

TEST(MergeTest, EditsThatDoNotTouchAreJoined) {
  EXPECT_EQ(Merge("1\n2\n3\n4\n5\n", "one\n2\n3\n4\n5\n", "1\n2\n3\n4\nfive\n"),
            "one\n2\n3\n4\nfive\n");
  EXPECT_EQ(Merge("1\n2\n3\n", "1\n3\n", "1\n2\n3\n"), "1\n3\n");
  EXPECT_EQ(Merge("1\n2\n3\n", "1\nx\n3\n", "1\nx\n3\n"), "1\nx\n3\n") << "the same on both sides";
}

TEST(MergeTest, EditsThatOverlapOrTouchAreAConflict) {
  EXPECT_FALSE(Merge("1\n2\n3\n", "1\na\n3\n", "1\nb\n3\n"));
  EXPECT_FALSE(Merge("1\n2\n3\n", "1\na\n3\n", "1\n2\nb\n"));
  EXPECT_FALSE(Merge("", "a\n", "b\n"));
}

TEST(MergeTest, IsTheSameWithBothSidesExchanged) {
  std::mt19937 random(2);  // NOLINT(cert-msc51-cpp)
  for (int i = 0; i < 2000; ++i) {
    const std::string base = RandomText(random, 12);
    const std::string a = RandomText(random, 12), b = RandomText(random, 12);
    ASSERT_EQ(Merge(base, a, b), Merge(base, b, a));
    ASSERT_EQ(Merge(base, a, base), a);
  }
}

}  // namespace
}  // namespace igloo::service::changes
