#include "prove/behind.h"

#include <gmock/gmock.h>

namespace igloo::prove {
namespace {

using ::testing::IsEmpty;
using ::testing::SizeIs;

TEST(ReadBatteryTest, EachVerdictTakesWhatWasSaidBeforeIt) {
  const auto made =
      ReadBattery("held: open (Permission denied)\n@ 0 7\nwon: read it\n@ 1 42\n@ 2 3\n");
  ASSERT_THAT(made, SizeIs(3));
  EXPECT_EQ(made[0].ending, Ending::kHeld);
  EXPECT_EQ(made[0].said, "held: open (Permission denied)");
  EXPECT_EQ(made[1].ending, Ending::kWon);
  EXPECT_EQ(made[1].said, "won: read it");
  EXPECT_EQ(made[2].ending, Ending::kNotRun);
  EXPECT_EQ(made[2].said, "exit code 3");
}

TEST(ReadBatteryTest, VerdictsCountInTheirOrderOnly) {
  EXPECT_THAT(ReadBattery("@ 1 7\n"), IsEmpty());
  EXPECT_THAT(ReadBattery("@ 0 7\n@ 0 7\n@ 2 7\n"), SizeIs(1));
  EXPECT_THAT(ReadBattery("@ 0 7x\n@ 0\n@ 0 \n"), IsEmpty());
}

TEST(ReadBatteryTest, ACutLineIsNoVerdict) {
  EXPECT_THAT(ReadBattery("@ 0 7"), IsEmpty());
  EXPECT_THAT(ReadBattery("@ 0 7\n@ 1 "), SizeIs(1));
  EXPECT_THAT(ReadBattery(""), IsEmpty());
}

TEST(AttemptOfTest, OnlyTwoExitCodesMeanThatAnAttackRan) {
  EXPECT_EQ(AttemptOf(kLeaked, "").ending, Ending::kWon);
  EXPECT_EQ(AttemptOf(kHeld, "").ending, Ending::kHeld);
  for (const int code : {-1, 0, 1, 3, 124, 127, 137}) {
    EXPECT_EQ(AttemptOf(code, "").ending, Ending::kNotRun) << code;
  }
  EXPECT_EQ(AttemptOf(kHeld, "first\nlast\n").said, "last");
}

}  // namespace
}  // namespace igloo::prove
