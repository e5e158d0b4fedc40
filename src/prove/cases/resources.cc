// P7: processes, memory, files, descriptors, time, and what the kernel counts for an id or for the
// whole machine. Limits that are large are made small here, so that the machine does not notice.
#include <algorithm>

#include "prove/case.h"

namespace igloo::prove {
namespace {

constexpr std::uint64_t kMegabyte = 1U << 20;

template <class Alter>
void AlterPlaces(sandbox::Policy& policy, Alter alter) {
  for (sandbox::Entry& entry : policy.run) {
    if (auto* tree = std::get_if<sandbox::MemoryTree>(&entry)) alter(tree->capacity);
  }
}

void MakePlacesSmall(sandbox::Policy& policy) {
  AlterPlaces(policy, [](sandbox::Capacity& capacity) {
    capacity.bytes = std::min(capacity.bytes, 16 * kMegabyte);
    if (capacity.inodes) capacity.inodes = 1000;
  });
}

void GiveRoom(sandbox::Policy& policy) {
  AlterPlaces(policy, [](sandbox::Capacity& capacity) {
    capacity.bytes = 128 * kMegabyte;
    if (capacity.inodes) capacity.inodes = 4000;
  });
}

void GiveLittleMemory(sandbox::Policy& policy) { policy.limits.memory_bytes = 32 * kMegabyte; }

}  // namespace

std::vector<Case> ResourceCases() {
  return {
      {"Processes", "start 300 processes", {"fork-many", "300"}},
      {"LargeFile", "make a file of 300 MB", {"grow-file", "{scratch}/large", "300"}},
      {"LargeMemoryFile", "make a file of 300 MB in memory", {"grow-memory-file", "300"}},
      {"Descriptors", "open 5000 descriptors", {"open-many", "5000"}},
      {"CoreDump", "allow a core dump", {"allow-core-dump"}},
      {"LockedMemory", "lock 1 MB of memory", {"lock-memory", "1024"}},
      // 0 is RLIMIT_CPU: a host's is not limited, so that "no limit at all" is the control.
      {"LimitRaised",
       "raise the limit on descriptors",
       {"raise-limit", "7"},
       Control::kHost,
       {"raise-limit", "0"}},
  };
}

/// Places in memory, of 16 MB here.
std::vector<Case> PlaceCases() {
  std::vector<Case> cases;
  const std::pair<const char*, const char*> places[] = {{"SmallTemporarySpace", "/tmp"},
                                                        {"SmallWorkspaceSpace", "/workspace"},
                                                        {"SmallSharedMemorySpace", "/dev/shm"}};
  for (const auto& [name, place] : places) {
    cases.push_back({.name = name,
                     .text = std::string("write more to ") + place + " than fits",
                     .attack = {"fill-place", place, "64"},
                     .control = Control::kWeakened,
                     .weaken = GiveRoom,
                     .shape = MakePlacesSmall});
  }
  return cases;
}

std::vector<Case> FileCountCases() {
  return {{.name = "SmallNumberOfFiles",
           .text = "make more files in /tmp than are allowed",
           .attack = {"fill-names", "/tmp", "2000"},
           .control = Control::kWeakened,
           .weaken = GiveRoom,
           .shape = MakePlacesSmall,
           .alone = true,
           .needs = &wall::Capabilities::fine_memory_limits}};
}

std::vector<Case> FloodCases() {
  return {{.name = "SmallMemory",
           .text = "use 96 MB of memory, of which 32 are allowed",
           .attack = {"use-private", "96"},
           .shape = GiveLittleMemory,
           .sign = Sign::kMemory}};
}

std::vector<Case> CounterCases() {
  return {
      {"WaitingSignals", "queue 300 signals", {"queue-signals", "300"}},
      {"AsynchronousEvents", "take events of asynchronous I/O", {"take-events"}},
      // Root is not bounded there.
      {"DescriptorsInFlight",
       "send 1000 descriptors that nobody takes",
       {"descriptors-in-flight", "1000"},
       Control::kHostAsUser},
      {"PipeSize", "make a pipe larger", {"grow-pipe"}},
      {"Lease", "take a lease on a file", {"take-lease", "{scratch}/leased"}},
      {"OldNotification", "watch a directory by F_NOTIFY", {"notify-old-way"}},
      {"LineDiscipline", "load a line discipline", {"load-line-discipline"}},
      {"HugePages", "reach huge pages by mmap()", {"reach-huge-pages", "mmap"}},
      {"HugeMemoryFile", "reach huge pages by memfd_create()", {"reach-huge-pages", "memfd"}},
      {"HugeSharedMemory", "reach huge pages by shmget()", {"reach-huge-pages", "shm"}},
      {"LargeMessageQueue", "make a message queue of 80 KB", {"message-queue", "80"}},
      // 13: RLIMIT_NICE, 11: RLIMIT_SIGPENDING. The control's 0 is RLIMIT_CPU, as above.
      {"NiceRaised",
       "raise the limit on priority",
       {"raise-limit", "13"},
       Control::kHost,
       {"raise-limit", "0"}},
      {"WaitingSignalsRaised",
       "raise the limit on signals",
       {"raise-limit", "11"},
       Control::kHost,
       {"raise-limit", "0"}},
  };
}

}  // namespace igloo::prove
