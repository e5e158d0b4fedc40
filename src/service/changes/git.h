#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/temp_dir.h"
#include "service/changes/node.h"

namespace igloo::service::changes {

/// The host's git. Its program lies in a directory of root's, its environment is empty, and neither
/// the user's nor the system's configuration is read.
class Git {
 public:
  /// Fails if git is not installed.
  static Result<Git> Find();

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
  explicit Git(std::string program) : program_(std::move(program)) {}
  std::string program_;
};

/// A repository of igloo's own that borrows the objects of a project. SECURITY: git reads its
/// configuration and none of the project's or of the change set's.
class ScratchRepository {
 public:
  /// `place`: a private directory to make it in. `repository`: that of the project. `names`: "sha1"
  /// or "sha256".
  static Result<ScratchRepository> Make(const Git& git, const std::string& place,
                                        const std::string& repository, const std::string& names);
  const std::string& path() const { return directory_.path(); }

 private:
  explicit ScratchRepository(TempDir directory) : directory_(std::move(directory)) {}
  TempDir directory_;
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
