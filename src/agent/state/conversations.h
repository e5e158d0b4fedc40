#pragma once

#include <string>

#include "base/error.h"
#include "base/unique_fd.h"

namespace igloo::agent {

/// The user's own directory for Claude Code's conversations about one project,
/// ~/.claude/projects/NAME, as a box has it: the box writes to it, and nothing of other projects'
/// is shown. As long as there is none, the box writes to a directory of igloo's: nothing is made
/// below ~/.claude for a box that leaves nothing.
class Conversations {
 public:
  /// `waiting` is igloo's directory for those that the user does not have yet. What a box left
  /// there that was killed becomes the user's first.
  static Result<Conversations> Open(const std::string& home, const std::string& project,
                                    const std::string& waiting);

  /// Below the home directory: ".claude/projects/NAME".
  const std::string& path() const { return path_; }
  /// The directory on the host that is shown there.
  const std::string& source() const { return source_; }

  /// What the box wrote becomes the user's, unless another box of the project still writes there:
  /// then that one does it. Does nothing where the directory was the user's from the start.
  Result<void> Publish();

 private:
  std::string path_ = {}, own_ = {}, source_ = {};
  UniqueFd lock_ = {};  ///< shared by all boxes that write to igloo's directory
};

}  // namespace igloo::agent
