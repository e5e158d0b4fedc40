#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace igloo::testing {

/// One process as the host's /proc shows it.
struct ProcessInfo {
  pid_t pid = 0, parent = 0;
  char state = '?';
  std::string name = {};  ///< comm
};

/// Everything that runs now; zombies included.
std::vector<ProcessInfo> Processes();
std::vector<ProcessInfo> ChildrenOf(pid_t pid);
/// Children, their children and so on.
std::vector<ProcessInfo> DescendantsOf(pid_t pid);
/// Gone, or a zombie that only waits to be reaped.
bool IsGone(pid_t pid);

/// A word that no other process on this machine has in its command line.
std::string UniqueMarker();
/// Processes whose command line holds a word equal to `marker`; igloo itself is not one.
std::vector<pid_t> FindMarked(const std::string& marker);
/// Waits for the one process that carries `marker`; 0 when none comes.
pid_t WaitForMarked(const std::string& marker);

/// The only line of /proc/PID/uid_map, seen from here.
struct UidMap {
  std::uint64_t inside = 0, outside = 0, count = 0;
  bool operator==(const UidMap&) const = default;
};
std::optional<UidMap> ReadUidMap(pid_t pid);
/// The nearest ancestor of `pid` that `starter` started itself: its launcher.
pid_t LauncherAbove(pid_t pid, pid_t starter);

/// How many descriptors a process has open; -1 when it may not be looked at.
int CountDescriptors(pid_t pid);

/// Whether the memory of a process holds `text` anywhere; throws when it may not be looked at. What
/// the sanitizers map for themselves is left out: they map more than any machine has.
bool MemoryHolds(pid_t pid, const std::string& text);

/// A whole file of /proc; empty when it cannot be read.
std::string ReadProc(const std::string& path);
/// The host's mount table.
std::string MountTable();

/// What a tree holds: path -> type, mode, size, time of change and content, in one line each.
std::map<std::string, std::string> SnapshotOf(const std::string& root);

}  // namespace igloo::testing
