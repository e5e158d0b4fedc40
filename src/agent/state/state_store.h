#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "base/error.h"
#include "base/unique_fd.h"

namespace igloo::agent {

/// Where igloo keeps what concerns the state of agents, a private directory of its own:
///   boxes/ID/    of each box that runs, or that was killed before its changes were taken
///   making/      what is not complete yet, or not needed any more
///   proposals/   changes that a person is to confirm
///   kept/        homes of boxes that changed more than can be proposed
struct StateStore {
  std::string directory = {};
  /// Is told before every step that reaches the disk. For tests, which end the process there.
  std::function<void(std::string_view step)> on_step = {};

  std::string Boxes() const { return directory + "/boxes"; }
  std::string Making() const { return directory + "/making"; }
  std::string Kept() const { return directory + "/kept"; }
  std::string Proposals() const { return directory + "/proposals"; }
  void Step(std::string_view step) const {
    if (on_step) on_step(step);
  }
};

/// Makes the directories and waits for the store's lock: one process at a time writes the user's
/// files. The lock is held for moments, never while a box runs.
Result<UniqueFd> LockStore(const StateStore& store);

}  // namespace igloo::agent
