#include "cli/serve_mcp.h"

#include "cli/console.h"

namespace igloo::cli {

Result<int> ServeMcp(const ParsedArgs& /*args*/, Console& /*console*/) {
  return Fail(Errc::kFailedPrecondition, "igloo's MCP server is not available yet",
              "'igloo mcp install CLIENT' and 'igloo mcp print-config CLIENT' are");
}

void NoteUntilServed(Console& console) {
  console.Note("note: the client will find no server: 'igloo mcp' itself is not available yet");
}

}  // namespace igloo::cli
