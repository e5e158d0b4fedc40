#pragma once

#include <string>
#include <vector>

#include "environment/work_tree.h"
#include "sandbox/policy.h"

namespace igloo::agent {

using environment::WorkTree;

/// What a box mounts over a work tree that it may write to. The host's git runs what hooks and
/// configurations name, of the repository, its submodules and its other work trees, so these are
/// read-only, and what they lie in cannot be moved aside. What is not there cannot be mounted over:
/// igloo looks for it when the box has ended (agent/obeyed/check.h).
/// `home` is the caller's, for files that a configuration includes.
std::vector<sandbox::Entry> GuardWorkTree(const std::string& project, const WorkTree& tree,
                                          const std::string& home);

/// What the configuration of a repository leads git to that lies in the project: files that it
/// includes, and the directory of hooks that it names (core.hooksPath), as far as they are there.
struct LedTo {
  std::vector<std::string> files = {};
  std::string hooks = {};
};
LedTo FilesLedTo(const std::string& project, const WorkTree& tree, const std::string& home);

}  // namespace igloo::agent
