#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

#include "backend/backend.h"

namespace igloo::cli {

/// One thing that a machine must be able to do, tried for real.
struct Finding {
  enum class State { kGood, kMissing, kBroken };
  std::string name = {};
  State state = State::kGood;
  std::string detail = {};
  std::string fix = {};
  /// A missing extra (bubblewrap, node) does not make igloo unusable.
  bool required = true;
};

/// What one sandbox showed of its walls.
struct Seen {
  std::string inside = {};   ///< "name value" lines that the probe printed
  bool own_kernel = false;   ///< the wall promises one
  std::string uid_map = {};  ///< of the code, read outside: inside it hides who its parent maps to
  uid_t caller = 0;          ///< who started it
  std::uint32_t first_free_id = 0;  ///< ids from here on are no account's
  /// What an ordinary caller's sandbox must have outside; none: the caller's own id.
  backend::IdRange subordinate = {};
  std::uint64_t landlock_abi = 0;
};

/// Compares what was seen with what must be seen. `prefix` names the backend.
std::vector<Finding> CheckWalls(const std::string& prefix, const Seen& seen, bool required);

/// A finding that is a hole unless `good`.
Finding Wall(std::string name, bool good, std::string detail, std::string trouble, bool required);

}  // namespace igloo::cli
