#pragma once

#include <set>
#include <string>
#include <vector>

#include "bench/mcp.h"
#include "bench/mcp_client.h"

namespace igloo::bench {

/// What one process has, in MiB.
struct Memory {
  double resident = 0;  ///< VmRSS
  double peak = 0;      ///< VmHWM
  double share = 0;     ///< PSS
};
Result<Memory> MemoryOf(pid_t pid);
/// From now on the peak counts anew.
Result<void> ForgetPeak(pid_t pid);

/// Puts load on one server and looks at its memory and at how soon it answers.
class McpLoad {
 public:
  McpLoad(Command command, Figures& figures) : command_(std::move(command)), figures_(figures) {}

  Result<void> Run(unsigned calls);

 private:
  /// `calls` at once: how long other requests take meanwhile, and the peak of memory.
  struct Wave {
    Samples others = {};
    unsigned refused = 0;
    double peak = 0;
  };
  Result<Wave> Surge(McpClient& client, unsigned calls);
  /// The MiB that a run needs more which prints so much.
  Result<double> Output(McpClient& client, unsigned megabytes);

  Command command_;
  Figures& figures_;
};

}  // namespace igloo::bench
