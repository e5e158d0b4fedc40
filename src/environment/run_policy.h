#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/error.h"
#include "environment/environment.h"
#include "sandbox/policy.h"

namespace igloo::environment {

enum class ProjectMode { kReadOnly, kOverlay, kReadWrite };

/// A directory of the user's, shown at /project.
struct Project {
  std::string path = {};
  ProjectMode mode = ProjectMode::kReadOnly;
};

struct Code {
  std::string text = {};
};
struct Program {
  std::vector<std::string> argv = {};
};

/// What one run asks for.
struct RunRequest {
  std::variant<Code, Program> what = Code{};
  std::optional<Project> project = {};
  /// Instead of the environment's own. A time of 0 is none at all.
  std::optional<std::uint64_t> time_ms = {};
  std::optional<std::uint64_t> memory_bytes = {};
  /// What the user set up; they beat the environment's, and HOME and the like too.
  std::map<std::string, std::string> variables = {};
  /// A person at a terminal: a terminal of its own, of this type ("xterm").
  std::optional<std::string> terminal = {};
  /// A backend that can limit only the size of memory trees gets a policy that asks for no more;
  /// whoever chose it says so to the user.
  bool fine_memory_limits = true;
  /// Likewise for a backend that has no overlays: it mounts a read-only project itself.
  bool views = true;
};

/// The policy of a run in an environment: its limits, no network, /workspace as home, nothing
/// inherited.
Result<sandbox::Policy> PolicyForRun(const Environment& environment, const RunRequest& request);

}  // namespace igloo::environment
