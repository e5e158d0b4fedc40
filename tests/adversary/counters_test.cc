// P7: what the kernel counts for an id or for the whole machine is not one sandbox's to take.
#include <sys/resource.h>

#include "attack_case.h"

namespace igloo::testing {
namespace {

INSTANTIATE_TEST_SUITE_P(Counters, Attack,
                         ::testing::Combine(::testing::ValuesIn(prove::CounterCases()),
                                            EveryWall()),
                         CaseName);

/// Bubblewrap has no way to bound these.
std::vector<Case> InotifyCases() {
  return {
      {"InotifyInstances", "make 64 instances", {"inotify-instances", "64"}},
      {"InotifyWatches", "watch 9000 files", {"inotify-watches", "{scratch}", "9000"}},
  };
}

INSTANTIATE_TEST_SUITE_P(Inotify, Attack,
                         ::testing::Combine(::testing::ValuesIn(InotifyCases()),
                                            ::testing::ValuesIn(WithContainer(
                                                {Wall::kJail, Wall::kPrepared, Wall::kRestored}))),
                         CaseName);

/// Programs that watch files have enough of both.
TEST(Inotify, IsThereForProgramsThatNeedIt) {
  const Scene scene;
  EXPECT_EQ(AttackBehind(Wall::kJail, scene, {"inotify-instances", "16"}).status, kLeaked);
  EXPECT_EQ(AttackBehind(Wall::kJail, scene, {"inotify-watches", "/tmp", "4000"}).status, kLeaked);
}

/// When a sandbox holds all that it can have under way, its starter, who may have the same id,
/// still sends descriptors with the usual soft limit of 1024.
TEST(Descriptors, InFlightLeaveRoomForTheUsualLimit) {
  const sandbox::Limits limits;
  constexpr std::uint64_t kMostInOneMessage = 253;  // SCM_MAX_FD
  EXPECT_LE(limits.open_files + kMostInOneMessage, 1024U);
}

}  // namespace
}  // namespace igloo::testing
