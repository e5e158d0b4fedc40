#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>

namespace igloo::sandbox {

/// The three lists of a plan; see Plan.
enum class Part { kEnvironment, kFresh, kRun };

/// The tree inside a sandbox while it is being planned: which names there are, who makes them, and
/// what is mounted where. Paths are checked ones (CheckTarget).
class Layout {
 public:
  enum class Kind { kDirectory, kFile, kLink };
  struct Name {
    Part maker;
    Kind kind;
  };
  struct Mount {
    enum class Of { kHost, kMemory, kDevice } of;
    Part part;
    Kind kind = Kind::kDirectory;
    bool writable = false;
    /// Memory that is read-only once everything is in it.
    bool frozen() const { return of == Of::kMemory && !writable; }
  };

  /// The innermost mount that holds `path`, or null for the root itself. Costs the depth of the
  /// path, not the number of mounts: environments have hundreds.
  const Mount* HolderOf(std::string path) const;
  /// What is seen at `path`; nothing is known of what lies in a tree of the host.
  std::optional<Kind> KindOf(const std::string& path) const;
  /// The file or link that `path` would lie below, or empty.
  std::string LeafAbove(std::string path) const;
  /// Whether the run brings `path` or something above it.
  bool IsOfRun(std::string path) const;
  /// The planned entry that a name at `target`, or a mount there, would hide; empty if none.
  std::string HiddenBy(const std::string& target, bool mount) const;

  void AddName(const std::string& path, Name name) { names_.insert_or_assign(path, name); }
  /// What the mount covers is forgotten: names below it are to be made anew.
  void AddMount(const std::string& target, Mount mount);
  /// Marks the place of an entry, which HiddenBy then guards.
  void Take(const std::string& target) { taken_.insert(target); }

  /// All mounts that can still be seen, by path.
  const std::map<std::string, Mount>& mounts() const { return mounts_; }

 private:
  std::map<std::string, Name> names_ = {};
  std::map<std::string, Mount> mounts_ = {};
  std::set<std::string> taken_ = {};
};

}  // namespace igloo::sandbox
