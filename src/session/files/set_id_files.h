#pragma once

#include <ctime>
#include <string>
#include <vector>

#include "base/unique_fd.h"
#include "sandbox/plan.h"

namespace igloo::session {

/// How much of a project is looked at.
struct SetIdLimits {
  std::size_t entries = 50'000;
  std::size_t depth = 64;
  std::size_t named = 10;  ///< files that a sentence of their own is worth
};

/// What code did in the trees of the host that its plan shows read-write: files there must not give
/// whoever starts them the id of their owner. The payload's filter makes no such file; one that was
/// there before can get other content through mapped memory, which leaves the bit in place.
class SetIdCheck {
 public:
  /// Before the sandbox starts. Costs nothing for a plan without such a tree.
  explicit SetIdCheck(const sandbox::Plan& plan);

  bool needed() const { return !trees_.empty() || !missed_.empty(); }
  /// Once, when nothing inside runs any more: takes the bits away from regular files that changed
  /// since. What was done, a sentence each.
  std::vector<std::string> Finish(const SetIdLimits& limits = {});

 private:
  struct Tree {
    std::string path = {};
    UniqueFd root = {};  ///< a directory, or one file
  };
  std::vector<Tree> trees_ = {};
  std::vector<std::string> missed_ = {};  ///< trees that cannot be looked at, a sentence each
  timespec began_ = {};
};

}  // namespace igloo::session
