#include "cli/serve_mcp.h"

namespace igloo::cli {

Result<int> ServeMcp(const ParsedArgs& /*args*/, Console& /*console*/) {
  return Fail(Errc::kFailedPrecondition, "igloo's MCP server is not available yet",
              "'igloo mcp install CLIENT' and 'igloo mcp print-config CLIENT' are");
}

}  // namespace igloo::cli
