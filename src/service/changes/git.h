#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/temp_dir.h"
#include "base/unique_fd.h"
#include "service/changes/acting_user.h"
#include "service/changes/node.h"

namespace igloo::service::changes {

/// The host's git, for one repository. Its program lies in a directory of root's, its environment
/// is empty, and neither the user's nor the system's configuration is read. It runs with the rights
/// of the repository's owner, and can write only to that repository and to the one that a call
/// names.
class Git {
 public:
  /// `repository`: the project's, open; `path`: the same. Fails if git is not installed, or must
  /// not work there.
  static Result<Git> For(int repository, const std::string& path);

  const ActingUser& user() const { return user_; }
  const std::string& path() const { return path_; }
  /// Fails if a new branch could not have this name.
  Result<void> CheckBranch(const std::string& branch) const;

  struct Call {
    std::string repository = {};  ///< GIT_DIR
    std::vector<std::string> args = {};
    std::string input = {};
    std::vector<std::string> variables = {};  ///< more of them
  };
  /// What it prints; fails with what it says.
  Result<std::string> Run(const Call& call) const;
  /// The same, with a file as input or output instead of memory; -1: neither.
  Result<std::string> Run(const Call& call, int input, int output) const;

 private:
  Git() = default;
  static Result<std::string> FindProgram();
  Result<int> Wait(const Call& call, int input, int output, int errors) const;

  std::string program_ = {}, path_ = {};
  UniqueFd repository_ = {};
  ActingUser user_ = {};
};

/// A repository of igloo's own that borrows the objects of a project. SECURITY: git reads its
/// configuration and none of the project's or of the change set's.
class ScratchRepository {
 public:
  /// `place`: a private directory to make it in. If git acts as somebody else, it lies where that
  /// user can reach it. `names`: "sha1" or "sha256".
  static Result<ScratchRepository> Make(const Git& git, const std::string& place,
                                        const std::string& names);
  ScratchRepository(ScratchRepository&&) noexcept = default;
  ScratchRepository& operator=(ScratchRepository&&) = delete;
  ~ScratchRepository();

  const std::string& path() const { return directory_->path(); }

 private:
  ScratchRepository(ActingUser user, TempDir directory)
      : user_(user), directory_(std::move(directory)) {}
  ActingUser user_;
  std::optional<TempDir>
      directory_;  ///< its owner's: only with those rights anything is done in it
};

/// The files that a project's index knew when a change set began: which object has a file's
/// content.
class GitIndex {
 public:
  /// Versions 2 to 4. What cannot be read has no entries: they only help. `written`: the index's
  /// own mtime in nanoseconds.
  static GitIndex Decode(std::string_view bytes, std::size_t name_size, std::int64_t written);

  /// The name of the object that has the content of this node; nothing if the file differed from
  /// the index or could have.
  std::optional<std::string> ObjectOf(const std::string& path, const Node& node) const;

 private:
  struct Entry {
    std::int64_t modified = 0;
    std::uint32_t inode = 0, size = 0;
    std::string object = {};
  };
  std::map<std::string, Entry, std::less<>> entries_ = {};
  std::int64_t written_ = 0;
};

}  // namespace igloo::service::changes
