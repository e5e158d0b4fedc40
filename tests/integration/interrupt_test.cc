// An interrupt that comes early finds an interpreter that hears it.

#include <gmock/gmock.h>

#include "support/interpreters.h"

namespace igloo::testing {
namespace {

class Interrupted : public ::testing::TestWithParam<const char*> {};

TEST_P(Interrupted, AnInterpreterThatWasStartedAnewLivesOn) {
  Interpreters all(GetParam());
  const auto one = all.Open(Interpreters::From::kStart);
  ASSERT_TRUE(one) << all.error();
  const bool shell = GetParam() == std::string_view("bash");
  // An interrupt does not always find it in the few moments that matter.
  for (int i = 0; i < 5; ++i) {
    ASSERT_TRUE(all.Call(*one, shell ? "exit 3" : "import os; os._exit(3)"));
    // As early as can be: right behind the first order.
    const auto stopped = all.Call(*one, shell ? "sleep 100" : "import time; time.sleep(100)", 1);
    ASSERT_TRUE(stopped) << stopped.error().what;
    EXPECT_EQ(stopped->verdict, session::Verdict::kTimeout);
    EXPECT_TRUE(stopped->lost_before);
    EXPECT_FALSE(stopped->lost_now);
    const auto next = all.Call(*one, shell ? "echo here" : "print('here')");
    ASSERT_TRUE(next) << next.error().what;
    EXPECT_EQ(next->output.kept(), "here\n");
    EXPECT_FALSE(next->lost_before);
  }
}

INSTANTIATE_TEST_SUITE_P(All, Interrupted, ::testing::Values("bash", "python"));

}  // namespace
}  // namespace igloo::testing
