#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "base/error.h"
#include "base/unique_fd.h"
#include "service/changes/acting_user.h"
#include "service/changes/node.h"

namespace igloo::service::changes {

/// A directory whose content somebody else chose: the upper layer of an overlay, or a project.
/// Every path is relative to it. SECURITY: nothing outside of it is ever reached. No link is
/// followed, nowhere on the way, and neither devices, sockets nor pipes are opened.
class Tree {
 public:
  static Result<Tree> Open(const std::string& path);
  /// A directory in it. Files there are opened as its owner if this is root.
  Result<Tree> In(const std::string& path) const;
  /// From now on, if this is root and the tree is somebody else's.
  Result<void> OpenFilesAsOwner();

  int fd() const { return fd_.get(); }
  /// With whose rights files in it are opened. Of a tree that Open() made: the process's own.
  const ActingUser& user() const { return user_; }

  /// Nothing: there is no such name, or something on the way to it is no directory.
  std::optional<Node> Look(const std::string& path) const;
  /// The directory itself (empty path: the tree).
  Result<UniqueFd> OpenDirectory(const std::string& path) const;
  /// A regular file, for reading.
  Result<UniqueFd> OpenFile(const std::string& path) const;
  Result<std::string> Read(const std::string& path, std::size_t limit) const;
  Result<std::string> ReadLink(const std::string& path) const;

 private:
  explicit Tree(UniqueFd fd) : fd_(std::move(fd)) {}
  UniqueFd fd_;
  ActingUser user_ = {};
};

struct ChangeSet;
/// The project of a change set; fails if another directory is in its place. If it is somebody
/// else's and this is root, files in it are opened as its owner.
Result<Tree> OpenProject(const ChangeSet& set);

/// openat2 beneath `directory`, through no link.
UniqueFd OpenBeneath(int directory, const std::string& path, std::uint64_t flags,
                     std::uint64_t mode = 0);

/// Calls `each` for every name in an open directory, until it fails. The order is the disk's.
Result<void> EachName(int directory, const std::function<Result<void>(const char* name)>& each);

/// How deep directories may lie. Deeper ones no program can name.
inline constexpr std::size_t kDeepest = 1024;
/// How many names a tree may have.
inline constexpr std::size_t kMostNames = 5'000'000;
/// Files above this are compared and copied, but neither shown line by line nor merged.
inline constexpr std::size_t kLargestText = 16U << 20;

}  // namespace igloo::service::changes
