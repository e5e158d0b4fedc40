// Which wall a file names: one of those that there are, or an error.

#include <gmock/gmock.h>

#include "config/decode_testing.h"

namespace igloo::config::testing {
namespace {

using ::testing::ElementsAre;

TEST(DecodeWall, AnUnknownWallIsAnErrorWhereItStands) {
  EXPECT_THAT(Problems("[defaults]\n\nbackend = 'papre'\n[environments.web]\npreset = 'python'\n"
                       "backend = 'jial'\n"),
              ElementsAre("3:11: 'backend' cannot be \"papre\" | write \"jail\", \"bubblewrap\", "
                          "\"container\" or \"microvm\", for example backend = \"jail\"",
                          "6:11: 'backend' cannot be \"jial\" | did you mean \"jail\"?"));
  EXPECT_EQ(Problems("[defaults]\nbackend = ''\n").size(), 1U);
  EXPECT_EQ(Problems("[defaults]\nbackend = 'Jail'\n").size(), 1U);
}

TEST(DecodeWall, AWallIsFoundAmongThoseThatThereAre) {
  constexpr wall::Wall kWalls[] = {
      {.name = "jail", .description = "", .served = true},
      {.name = "paper", .description = "", .served = true},
      {.name = "stone", .description = ""},
  };
  DecodeOptions options = Options();
  options.walls = kWalls;
  const Decoded paper = Decode("[defaults]\nbackend = 'paper'\n", options);
  EXPECT_TRUE(paper.problems.empty());
  EXPECT_EQ(paper.config.backend, &kWalls[1]);
  const Decoded stone = Decode("[defaults]\nbackend = 'stone'\n", options);
  EXPECT_EQ(stone.config.unavailable.size(), 1U) << "known, and not there yet";
  EXPECT_EQ(stone.config.backend, &wall::kDefault) << "refused as a whole, so never used";
  EXPECT_EQ(Decode("[defaults]\nbackend = 'bubblewrap'\n", options).problems.size(), 1U);
}

}  // namespace
}  // namespace igloo::config::testing
