#include "base/error_text.h"

#include <gtest/gtest.h>

namespace igloo {
namespace {

TEST(ErrorTextTest, OneLineHasTheAdviceBehindTheFailure) {
  EXPECT_EQ(InOneLine({.code = Errc::kTimeout, .what = "too slow", .hint = "wait longer"}),
            "too slow; wait longer");
  EXPECT_EQ(InOneLine({.code = Errc::kTimeout, .what = "too slow"}), "too slow");
}

}  // namespace
}  // namespace igloo
