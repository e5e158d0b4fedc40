#include "tools/hints.h"

namespace igloo::tools {

mcp::ToolHints HintsOf(const service::Rights& rights) {
  // A run keeps nothing, so without a way out it reads at most.
  return {.read_only = rights.harmless(),
          .destructive = !rights.harmless(),
          .idempotent = false,
          .open_world = rights.network};
}

}  // namespace igloo::tools
