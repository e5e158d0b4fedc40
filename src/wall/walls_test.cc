#include "wall/walls.h"

#include <gmock/gmock.h>

namespace igloo::wall {
namespace {

using ::testing::HasSubstr;

constexpr Wall kWithFake[] = {
    {.name = "jail", .description = "", .served = true},
    {.name = "fake", .description = "", .served = true},
    {.name = "later", .description = ""},
};

TEST(Walls, AreFoundByTheirWholeNameAlone) {
  for (const Wall& each : All()) EXPECT_EQ(Find(each.name), &each);
  for (const char* name : {"", "Jail", "jai", "jail ", "paper"}) EXPECT_EQ(Find(name), nullptr);
}

TEST(Walls, AreChosenByName) {
  for (const Wall& each : All()) {
    const auto chosen = Choose(each.name);
    ASSERT_EQ(chosen.has_value(), each.served) << each.name;
    if (chosen) {
      EXPECT_EQ(*chosen, &each);
    }
  }
}

TEST(Walls, AnUnknownNameIsAnErrorThatListsThem) {
  const auto chosen = Choose("paper");
  ASSERT_FALSE(chosen);
  EXPECT_EQ(chosen.error().code, Errc::kInvalidArgument);
  EXPECT_EQ(chosen.error().what, "there is no backend 'paper'");
  EXPECT_EQ(chosen.error().hint, "choose jail, bubblewrap or microvm");
  EXPECT_EQ(Choose("jial").error().hint, "did you mean 'jail'?");
  EXPECT_EQ(Choose("").error().code, Errc::kInvalidArgument);
}

TEST(Walls, AKnownOneThatIsNotServedSaysSo) {
  const auto chosen = Choose("container");
  ASSERT_FALSE(chosen);
  EXPECT_EQ(chosen.error().code, Errc::kFailedPrecondition);
  EXPECT_THAT(chosen.error().what, HasSubstr("'container' is not available yet"));
}

TEST(Walls, AnotherListHasItsOwnNames) {
  EXPECT_EQ(Choose("fake", kWithFake).value(), &kWithFake[1]);
  EXPECT_FALSE(Choose("fake"));
  EXPECT_EQ(Choose("paper", kWithFake).error().hint, "choose jail or fake");
  EXPECT_THAT(Choose("later", kWithFake).error().what, HasSubstr("not available yet"));
}

TEST(Walls, TextsAreMadeOfTheRows) {
  EXPECT_EQ(kNames, "jail bubblewrap container microvm");
  EXPECT_EQ(kServedNames, "jail bubblewrap microvm");
  EXPECT_EQ(kLaterNames, "container");
  EXPECT_EQ(kOptionText, "the wall: jail (default), bubblewrap or microvm");
}

TEST(Walls, OneIsFoundByTheWordThatPrintsItsCommand) {
  EXPECT_EQ(FindShownAs("bwrap"), Find("bubblewrap"));
  EXPECT_EQ(FindShownAs(""), nullptr);
  EXPECT_EQ(FindShownAs("jail"), nullptr);
}

}  // namespace
}  // namespace igloo::wall
