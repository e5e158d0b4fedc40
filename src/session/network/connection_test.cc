#include "session/network/connection.h"

#include <gtest/gtest.h>

namespace igloo::session {
namespace {

TEST(RunNameTest, IsANumberOfAProcessAndOneOfItsOwn) {
  const auto name = ParseRunName("run-12-3");
  ASSERT_TRUE(name);
  EXPECT_EQ(name->pid, 12);
  EXPECT_EQ(name->number, 3U);
  for (const char* other : {"", "run", "run-", "run-1", "run-1-", "run--1", "run-1-2-3", "run-a-1",
                            "run-1-b", "Run-1-2", "run-0-1", "run-1-0", "run--1-2", " run-1-2",
                            "run-1-2 ", "run-of-mine", "run-99999999999999999999-1"}) {
    EXPECT_FALSE(ParseRunName(other)) << other;
  }
}

}  // namespace
}  // namespace igloo::session
