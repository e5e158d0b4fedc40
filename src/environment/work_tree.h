#pragma once

#include <optional>
#include <string>

#include "base/error.h"
#include "sandbox/policy.h"

namespace igloo::environment {

/// A project as a work tree of git. All paths are real.
struct WorkTree {
  /// ".git", or where the file ".git" leads: the directory of a linked work tree, or a submodule's.
  std::string git_directory = {};
  std::string common = {};  ///< the repository; all of its work trees share it
  /// ".git" is a file, and the repository lies somewhere else.
  bool elsewhere = false;

  bool linked() const { return git_directory != common; }
};

/// What `project` (a real path) has of git, by its files alone: git itself is never started in it.
/// Nothing at all: it is no work tree. Fails if its ".git" leads to something that does not lead
/// back: it could name any directory of the user's.
Result<WorkTree> FindWorkTree(const std::string& project);

/// For a project that is shown at another path: its file ".git" with the whole path of what it
/// leads to, where it has a relative one. Nothing: it reads as it is.
std::optional<sandbox::Hidden> WholeGitFile(const std::string& project, const WorkTree& tree);

}  // namespace igloo::environment
