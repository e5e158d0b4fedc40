#pragma once

#include <string>
#include <utility>

#include "base/error.h"
#include "service/changes/change_set.h"
#include "service/changes/tree.h"

namespace igloo::service::changes {

/// The git repository of a change set's project: ".git" in it, or, of a linked work tree and of a
/// submodule, a directory elsewhere with a layer of its own.
class Repository {
 public:
  /// Fails if the project's work tree leads to another repository than it did.
  static Result<Repository> Open(const ChangeSet& set);

  /// The host's.
  const std::string& path() const { return path_; }
  const Tree& host() const { return host_; }

  /// What the sandbox left. SECURITY: code in the sandbox made everything in it. The path of a name
  /// of the repository in it: "refs/heads", ...
  const Tree& upper() const { return upper_; }
  std::string Inside(const std::string& name) const { return prefix_ + name; }
  /// A work tree has a HEAD of its own.
  std::string HeadInside() const { return prefix_ + own_ + "HEAD"; }

 private:
  Repository(std::string path, Tree host, Tree upper)
      : path_(std::move(path)), host_(std::move(host)), upper_(std::move(upper)) {}

  std::string path_;
  Tree host_, upper_;
  std::string prefix_ = {};  ///< ".git/", where the repository lies in the project
  std::string own_ = {};     ///< "worktrees/NAME/" of a linked work tree
};

}  // namespace igloo::service::changes
