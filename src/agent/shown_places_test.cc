#include "agent/shown_places.h"

#include <gmock/gmock.h>

namespace igloo::agent {
namespace {

using ::testing::HasSubstr;

constexpr const char* kWhat = "'--mount' cannot show";

std::string WhyNot(const std::string& directory, const std::string& project = "/home/u/code/app") {
  const ShownPlaces places{
      .home = "/home/u", .project = project, .state = "/home/u/.local/state/igloo"};
  const Result<void> shown = CheckShown(directory, places, kWhat);
  return shown ? "" : shown.error().what;
}

TEST(CheckShown, LetsThroughWhatIsTheUsersOwnAndNothingElse) {
  for (const char* fine : {"/home/u/other", "/home/u/.cache/pip", "/srv/data", "/home/u/code/apple",
                           "/home/u/.local/state/other", "/home/u/.local/share"}) {
    EXPECT_EQ(WhyNot(fine), "") << fine;
  }
}

TEST(CheckShown, RefusesWithTheReason) {
  EXPECT_THAT(WhyNot("/"), HasSubstr("your home directory is in it"));
  EXPECT_THAT(WhyNot("/home"), HasSubstr("your home directory is in it"));
  EXPECT_THAT(WhyNot("/home/u"), HasSubstr("your home directory is in it"));
  EXPECT_THAT(WhyNot("/home/u/code"), HasSubstr("the project is in it"));
  EXPECT_THAT(WhyNot("/home/u/code/app"), HasSubstr("the project is in it"));
  EXPECT_THAT(WhyNot("/home/u/code/app/.git"), HasSubstr("it lies in the project"));
  EXPECT_THAT(WhyNot("/home/u/.local"), HasSubstr("igloo's own state is there"));
  EXPECT_THAT(WhyNot("/home/u/.local/state/igloo"), HasSubstr("igloo's own state is there"));
  EXPECT_THAT(WhyNot("/home/u/.local/state/igloo/agents"), HasSubstr("igloo's own state"));
  EXPECT_THAT(WhyNot("/proc/1"), HasSubstr("the system's devices and services"));
}

TEST(CheckShown, LooksAtAProjectItself) {
  EXPECT_EQ(WhyNot("/home/u/code/app", ""), "");
  EXPECT_THAT(WhyNot("/home/u/.local/state", ""), HasSubstr("igloo's own state is there"));
}

}  // namespace
}  // namespace igloo::agent
