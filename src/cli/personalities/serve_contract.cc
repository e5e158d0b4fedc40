#include "cli/personalities/serve_contract.h"

namespace igloo::cli {

Result<int> ServeContract(const Contract& /*contract*/, Console& /*console*/) {
  return Fail(Errc::kFailedPrecondition, "igloo's MCP server is not available yet");
}

}  // namespace igloo::cli
