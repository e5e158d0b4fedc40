#pragma once

#include <string>

#include "tools/arguments.h"
#include "tools/contract.h"

namespace igloo::tools {

/// Does something to a session, or lists all; what it says is the tool's result.
boost::asio::awaitable<mcp::ToolResult> Act(Sessions& sessions, SessionAction action,
                                            std::string id, Cancellation cancellation,
                                            Trace& trace);

}  // namespace igloo::tools
