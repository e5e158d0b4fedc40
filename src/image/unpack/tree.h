#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_set>

#include "base/error.h"
#include "base/unique_fd.h"
#include "image/limits.h"

namespace igloo::image::unpack {

/// A directory that layers are unpacked into, one upon the other.
/// SECURITY: every name is found from its descriptor, beneath it and without following a link, so
/// that no order of members makes or removes anything elsewhere. Paths are those of CleanPath.
class Tree {
 public:
  Tree(int root, const Limits& limits) : root_(root), limits_(limits) {}

  /// Whiteouts take away what was there before this.
  void BeginLayer() {
    touched_.clear();
    Forget();
  }

  /// Makes it, or keeps the one that is there with what it has; anything else of the name goes.
  Result<void> Directory(const std::string& path);
  /// A new and empty file to write to, whatever was there; Finish gives it its mode.
  Result<UniqueFd> File(const std::string& path);
  static Result<void> Finish(int file, std::uint32_t mode, std::int64_t time);
  Result<void> Symlink(const std::string& path, const std::string& target);
  /// `existing` is a file or a link in the tree.
  Result<void> HardLink(const std::string& path, const std::string& existing);
  /// Takes away what earlier layers had at `path`.
  Result<void> Whiteout(const std::string& path);
  /// Takes away what earlier layers had in the directory.
  Result<void> Opaque(const std::string& directory);

 private:
  enum class Missing { kMake, kFail };
  /// The directory that holds `path`, and the last part of it.
  struct Place {
    int directory = -1;
    std::string name = {};
  };

  Result<Place> PlaceOf(const std::string& path, Missing missing);
  Result<UniqueFd> Open(const std::string& directory, Missing missing);
  Result<UniqueFd> Make(const std::string& directory);
  /// Makes room for another name.
  Result<void> Clear(const Place& place, const std::string& path);
  Result<void> RemoveAll(int directory, const std::string& name, std::size_t depth);
  /// Removes what this layer has not touched.
  Result<void> Prune(int directory, const std::string& name, std::size_t depth);
  Result<void> PruneBelow(int directory, std::size_t depth);
  Result<void> Touch(int directory, const std::string& name);
  Result<void> TouchAll(std::string directory);
  void Forget() { parent_path_ = "\n"; }

  int root_;
  Limits limits_;
  /// By inode: nobody else writes here, and numbers that are free again are taken out.
  std::unordered_set<std::uint64_t> touched_ = {};
  // Members of one directory stand together.
  std::string parent_path_ = "\n";
  UniqueFd parent_ = {};
};

/// "./usr//lib/" -> "usr/lib"; "" for the root itself. Fails on '..', on what is too long or too
/// deep. A leading '/' means the tree's own root.
Result<std::string> CleanPath(std::string_view path, const Limits& limits);

}  // namespace igloo::image::unpack
