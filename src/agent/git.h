#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "sandbox/policy.h"

namespace igloo::agent {

/// Who commits. Empty: git inside says that it does not know.
struct GitIdentity {
  std::string name = {}, email = {};
};

/// What the caller's own git says for all repositories: asks the git at `program`, which reads the
/// caller's global configuration and nothing of any project. Empty where it has none.
GitIdentity ReadGitIdentity(const std::string& program, const std::string& home);

/// One setting of the caller's own, in the same way; empty: it is not set.
std::string ReadGitSetting(const std::string& program, const std::string& home,
                           std::string_view key);

/// A value as git reads it in a configuration, between quotation marks.
std::string GitQuoted(std::string_view text);

/// The whole of ~/.gitconfig inside. Nothing else of the caller's configuration is there.
std::string GitConfigText(const GitIdentity& identity);

/// A project as a work tree. All paths are real.
struct WorkTree {
  std::string git_directory = {};  ///< ".git", or that of a linked work tree
  std::string common = {};         ///< the repository; for a linked one it lies elsewhere
  bool linked() const { return git_directory != common; }
};

/// What `project` (a real path) has of git, by its files alone: git itself is never started in it.
/// Nothing at all: it is no work tree. Fails if its ".git" leads to something that does not lead
/// back: it could name any directory of the user's.
Result<WorkTree> FindWorkTree(const std::string& project);

/// Who commits in a work tree: whoever the repository's own configuration says, which is read as a
/// file and nothing more, and else `otherwise`.
GitIdentity IdentityIn(const WorkTree& tree, const std::string& program, const std::string& home,
                       GitIdentity otherwise);

/// A repository has no file that leads git elsewhere, and nothing can be mounted where no file is:
/// what a box put there is removed when it ends. Whether there was one.
bool RemovePlantedDirection(const WorkTree& tree);

/// What a box mounts over a work tree that it may write to. The host's git runs what hooks and the
/// configuration name, so these are read-only, and what they lie in cannot be moved aside.
std::vector<sandbox::Entry> GuardWorkTree(const std::string& project, const WorkTree& tree);

}  // namespace igloo::agent
