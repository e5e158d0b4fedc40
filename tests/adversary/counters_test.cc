// P7: what the kernel counts for an id or for the whole machine is not one sandbox's to take.
#include <sys/resource.h>

#include "attack_case.h"

namespace igloo::testing {
namespace {

std::vector<Case> Cases() {
  return {
      {"WaitingSignals", {"queue-signals", "300"}},
      {"AsynchronousEvents", {"take-events"}},
      // Root is not bounded there.
      {"DescriptorsInFlight", {"descriptors-in-flight", "1000"}, Control::kHostAsUser},
      {"PipeSize", {"grow-pipe"}},
      {"Lease", {"take-lease", "{scratch}/leased"}},
      {"OldNotification", {"notify-old-way"}},
      {"LineDiscipline", {"load-line-discipline"}},
      {"HugePages", {"reach-huge-pages", "mmap"}},
      {"HugeMemoryFile", {"reach-huge-pages", "memfd"}},
      {"HugeSharedMemory", {"reach-huge-pages", "shm"}},
      {"MessageQueue", {"message-queue", "80"}},
      // 13: RLIMIT_NICE, 11: RLIMIT_SIGPENDING. The control's 0 is RLIMIT_CPU, as in resources.
      {"NiceRaised", {"raise-limit", "13"}, Control::kHost, {"raise-limit", "0"}},
      {"WaitingSignalsRaised", {"raise-limit", "11"}, Control::kHost, {"raise-limit", "0"}},
  };
}

INSTANTIATE_TEST_SUITE_P(Counters, Attack,
                         ::testing::Combine(::testing::ValuesIn(Cases()), EveryWall()), CaseName);

/// Bubblewrap has no way to bound these.
std::vector<Case> InotifyCases() {
  return {
      {"InotifyInstances", {"inotify-instances", "64"}},
      {"InotifyWatches", {"inotify-watches", "{scratch}", "9000"}},
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
