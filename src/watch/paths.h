#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/unique_fd.h"

namespace igloo::watch {

/// Something that may change: written, replaced, made, removed, or reached by another way.
struct Watched {
  std::string path = {};  ///< need not exist, nor need the directories above it
  /// Not empty: the path is that of a directory, and what matters is which directories are in it
  /// and the file of this name in each of them.
  std::string in_each = {};
};

/// Which directories the kernel has to watch to notice every change of some paths. A file is
/// watched through its directory, since editors replace files; every directory above it as well, so
/// that any of them may come and go; and behind a symbolic link the same for where it leads.
class Paths {
 public:
  static constexpr std::size_t kMostDirectories = 1024;

  /// Watches from here on. Fails only when the kernel offers no more watching at all.
  static Result<Paths> Make(std::vector<Watched> watched,
                            std::size_t most_directories = kMostDirectories);

  /// Readable when something happened, which need not matter.
  int fd() const { return inotify_.get(); }

  /// Takes what has happened since the last call; true when some of it matters. What happens after
  /// it returned is seen by the next call. Never waits.
  bool Drain();

  /// Watches other paths from here on.
  void Set(std::vector<Watched> watched);

  /// How many directories the kernel watches for this.
  std::size_t directories() const { return nodes_.size(); }
  /// Why not everything is watched, if so.
  const std::optional<Error>& incomplete() const { return incomplete_; }

 private:
  /// What matters of one directory that is watched.
  struct Node {
    std::set<std::string> names = {};     ///< whether they are there
    std::set<std::string> contents = {};  ///< and what they hold
    bool every_name = false;
  };
  enum class Matter { kName, kContent, kEveryName };

  Paths(UniqueFd inotify, std::size_t most) : inotify_(std::move(inotify)), most_(most) {}
  void Renew();
  void Want(const std::string& directory, const std::string& name, Matter matter);
  /// Follows a path from a directory and watches what it goes through. What is at its end, if
  /// anything is, by a name without links.
  std::optional<std::string> Walk(std::string directory, const std::string& path, Matter last);
  void WalkEach(const std::string& directory, const std::string& file);
  bool Matters(int wd, std::uint32_t mask, const char* name) const;

  UniqueFd inotify_;
  std::size_t most_;
  std::vector<Watched> watched_ = {};
  std::map<int, Node> nodes_ = {};         ///< by the kernel's number
  std::map<int, Node> renewed_ = {};       ///< while it is being made
  std::map<std::string, int> known_ = {};  ///< directories of renewed_
  std::optional<Error> incomplete_ = {};
};

}  // namespace igloo::watch
