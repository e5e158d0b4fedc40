#pragma once

#include <string>
#include <vector>

#include "backend/backend.h"
#include "session/run.h"

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

/// Builds a sandbox with `backend` and looks at every wall from inside. `prefix` names the backend.
std::vector<Finding> ProbeWalls(const std::string& prefix, backend::Backend& backend,
                                bool fine_memory_limits, bool required);

/// Tries a copy-on-write project.
Finding ProbeOverlay(backend::Backend& backend);

}  // namespace igloo::cli
