#include "bench/boxes.h"

#include <gtest/gtest.h>

namespace igloo::bench {
namespace {

TEST(BetweenLines, IsTheTimeToTheOnlyLineOrBetweenTwo) {
  EXPECT_DOUBLE_EQ(*BetweenLines({.begin = 100, .end = 900, .output = "350\n"}), 250);
  EXPECT_DOUBLE_EQ(*BetweenLines({.begin = 100, .end = 900, .output = "350\n800\n"}), 450);
}

TEST(BetweenLines, WhatIsNoTimeIsNone) {
  for (const char* output : {"", "x\n", "1\n2\n3\n", "1 2\n"}) {
    EXPECT_FALSE(BetweenLines({.begin = 1, .output = output})) << output;
  }
}

TEST(BoxRuns, SaysWhatIsMissing) {
  const auto made = BoxRuns::Make("/nowhere");
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().what, "there is no igloo-bench-first");
}

}  // namespace
}  // namespace igloo::bench
