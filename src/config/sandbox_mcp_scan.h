#pragma once

#include <string>
#include <vector>

#include "base/error.h"
#include "config/load.h"
#include "config/sandbox_mcp.h"

namespace igloo::config {

/// What sandbox-mcp's own config.json says.
struct SandboxMcpConfig {
  std::string file = {};                ///< where it is, or would be; empty: no place to look at
  std::string sandboxes_path = {};      ///< absolute; empty: nowhere
  std::vector<std::string> notes = {};  ///< what in it was ignored, and where
};

/// $XDG_CONFIG_HOME/sandbox-mcp/config.json. A file that is missing is one with defaults; nothing
/// is made by looking.
Result<SandboxMcpConfig> LoadSandboxMcpConfig(const Variables& variables);

struct FoundSandbox {
  std::string directory = {};
  SandboxSpec spec = {};
};

/// A directory whose sandbox is not served, and why.
struct SandboxProblem {
  std::string directory = {};
  Error error = {};
};

struct SandboxScan {
  std::vector<FoundSandbox> found = {};
  std::vector<SandboxProblem> problems = {};
  std::vector<std::string> notes = {};  ///< what was ignored, with its place
};

/// The sandboxes below `place`, in the order of their directories' names. What is wrong with one of
/// them is nobody else's problem; of two with one id the first counts. A missing place is fine.
SandboxScan ScanSandboxes(const std::string& place);

}  // namespace igloo::config
