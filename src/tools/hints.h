#pragma once

#include "mcp/types.h"
#include "service/setup.h"

namespace igloo::tools {

/// What clients may assume of a tool whose runs have these rights. Code that reaches something can
/// delete what it may delete there, be it a file of a project or something at a server.
mcp::ToolHints HintsOf(const service::Rights& rights);

}  // namespace igloo::tools
