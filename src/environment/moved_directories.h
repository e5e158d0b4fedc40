#pragma once

#include <sys/stat.h>
#include <time.h>

#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/unique_fd.h"

namespace igloo::environment {

/// Tells whether a directory was moved past somebody who looked at all directories below `root`,
/// from where he would have looked later to where he had looked already.
///
/// The caller says of each directory that it entered it, before it reads the names in it. A move
/// changes the times of both parents, so usually one comparison per directory ends it. Directories
/// that were changed meanwhile are watched (inotify), and their subdirectories looked at again.
///
/// What was entered may be elsewhere afterwards: the caller knows what is in it, and under which
/// path it was.
class MovedDirectories {
 public:
  /// `root` is open as long as this is used. `begin` is before the first look; what is made from
  /// then on is new: nothing older is in it, unless it was moved there.
  MovedDirectories(int root, timespec begin) : root_(root), begin_(begin) {}

  static timespec Now();
  /// Waits for the next tick of the clock that times of files are taken from, some milliseconds at
  /// most. What is made after Now() in the same tick has the time of that tick, and counts as old:
  /// beside somebody who makes many directories, a look has to begin here.
  static timespec NextTick();

  /// `path` is below the root; "" is the root.
  void Entered(std::string_view path, const struct stat& info) { Note(path, info, true); }
  /// Was seen, and what is in it does not matter.
  void Passed(std::string_view path, const struct stat& info) { Note(path, info, false); }

  /// Once, after the last directory was entered. False: some directory that is older than this
  /// object may be where nobody looked, so everything has to be looked at again. True is certain,
  /// for the moment at which this was called or a later one.
  bool AllSeen();

  /// Called by tests after each comparison of all directories.
  std::function<void()> on_compared = {};

 private:
  struct Seen {
    dev_t device;
    ino_t inode;
    timespec changed = {};
    bool entered = false;
    /// By a watch under this path, and no subdirectory came since somebody looked at them.
    bool watched = false;
  };

  void Note(std::string_view path, const struct stat& info, bool entered);
  /// Directories that were entered and may have got other names since, and are not watched yet.
  std::vector<std::string> Changed();
  bool MayHaveChanged(const Seen& seen, const struct stat& info) const;
  /// The rest is false if somebody has to look again.
  /// Looks at its subdirectories, and watches those with it that are new or have a new path.
  bool Watch(std::string path);
  bool WatchOne(const std::string& path, std::vector<std::string>& more);
  bool LookAtName(int directory, const std::string& parent, const char* name,
                  std::vector<std::string>& more);
  bool TakeEvents();
  void NotWatched(int watch);

  int root_;
  timespec begin_;
  std::unordered_map<std::string, Seen> seen_ = {};
  std::set<std::pair<dev_t, ino_t>> entered_ = {};
  UniqueFd events_ = {};
  std::unordered_map<int, std::string> watches_ = {};
  std::size_t looks_ = 0;
};

}  // namespace igloo::environment
