#include "bench/walls.h"

#include <gmock/gmock.h>

namespace igloo::bench {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr const char* kHost = "user:[1]\npid:[2]\nnet:[3]\nmnt:[4]\nipc:[5]\nuts:[6]\ncgroup:[7]\n";

TEST(ReadWalls, FindsEveryWallOfACompleteSandbox) {
  const Walls walls = ReadWalls(
      "user:[11]\npid:[12]\nnet:[13]\nmnt:[14]\nipc:[15]\nuts:[16]\ncgroup:[17]\n"
      "CapEff: 0000000000000000\nCapBnd: 0000000000000000\nNoNewPrivs: 1\nSeccomp: 2\n"
      "usr-read-only\nhost-hidden\n",
      kHost);
  EXPECT_EQ(walls.Describe(), "7 of 7 namespaces, complete");
}

TEST(ReadWalls, NamesWhatIsMissing) {
  const Walls walls = ReadWalls(
      "user:[1]\npid:[12]\nnet:[3]\nCapEff: 0000000000000000\nCapBnd: 000001ffffffffff\n"
      "NoNewPrivs: 0\nSeccomp: 0\n",
      kHost);
  EXPECT_THAT(walls.shared, ElementsAre("user", "net"));
  const std::string text = walls.Describe();
  for (const char* each : {"5 of 7", "shares user, net", "no filter", "capabilities", "set-uid",
                           "/usr is writable", "files can be read"}) {
    EXPECT_THAT(text, HasSubstr(each));
  }
}

TEST(ReadWalls, TheQuestionAskedWithoutASandboxFindsNone) {
  const auto host = RunSpawned({ProbeWords()});
  ASSERT_TRUE(host) << host.error().what;
  EXPECT_EQ(ReadWalls(host->output, host->output).shared.size(), 7U);
}

}  // namespace
}  // namespace igloo::bench
