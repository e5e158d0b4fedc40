#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/unique_fd.h"

namespace igloo::agent {

/// The directory that all work trees of a repository share, and the project's own for what is no
/// repository.
struct ProjectRoot {
  std::string path = {};  ///< without links
  bool is_repository = false;
  bool operator==(const ProjectRoot&) const = default;
};

/// The root of the project that a directory lies in: where the repository's common directory
/// (git rev-parse --git-common-dir) is, so that linked work trees share it; otherwise the directory
/// itself. `.git` and what it names are read as data: no program runs, and what is damaged or
/// leads nowhere is as good as none.
/// A hostile `.git` can only name another existing repository that has a work tree at this place in
/// its own list; git writes the name of a linked work tree in both directions.
Result<ProjectRoot> FindProjectRoot(const std::string& directory);

/// The first 16 hexadecimal digits of the SHA-256 of the root's path.
std::string ProjectKey(const std::string& root);

/// The name of Claude Code's directory for a project below ~/.claude/projects: every UTF-16 unit
/// that is no ASCII letter or digit becomes '-'. A name of more than 200 such units is cut and gets
/// a hash of the path.
std::string ClaudeProjectName(std::string_view path);

/// claudebox's directory for a project's history, `projects` being ~/.claudebox/projects: made if
/// it is missing, with a file `project-root` that says whose it is.
Result<std::string> OpenProjectHistory(const std::string& projects, const std::string& root);

/// A history whose project is gone.
struct StaleHistory {
  std::string directory = {};
  std::string root = {};
  bool operator==(const StaleHistory&) const = default;
};

/// Those below `projects` in the order of their names. A directory is not stale if its
/// `project-root` cannot be read, names another project, or names one that cannot be looked at.
Result<std::vector<StaleHistory>> FindStaleHistories(const std::string& projects);

/// Removes those that no box uses, and says which.
Result<std::vector<StaleHistory>> RemoveStaleHistories(const std::string& projects);

}  // namespace igloo::agent
