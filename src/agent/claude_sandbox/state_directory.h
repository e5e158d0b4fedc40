#pragma once

#include <string>
#include <vector>

#include "agent/box.h"
#include "base/error.h"

namespace igloo::agent::claude_sandbox {

/// What claude-sandbox keeps of one project: $XDG_STATE_HOME/claude-code-nix-sandbox/projects/
/// BASENAME-DIGITS, with a file `path` that says whose it is, and a CACHEDIR.TAG for backups.
struct StateDirectory {
  std::string path = {};
  std::string key = {};  ///< BASENAME-DIGITS, of characters that can name a box
};

/// The first twelve hexadecimal digits of the SHA-256 of the project's path, behind its last name.
std::string KeyOf(const std::string& project);

/// The directory of a project (a real path) below `state_home`; nothing is made.
StateDirectory FindStateDirectory(const std::string& state_home, const std::string& project);

/// Makes it, with all that is in it. Fails if its file `path` names another project.
Result<StateDirectory> OpenStateDirectory(const std::string& state_home,
                                          const std::string& project);

/// What of it a box writes to: ~/.local/bin, lib and share, and /tmp.
std::vector<OwnTree> TreesOf(const StateDirectory& state, const std::string& home);

}  // namespace igloo::agent::claude_sandbox
