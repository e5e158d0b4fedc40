#pragma once

#include <boost/asio/awaitable.hpp>
#include <functional>
#include <string>
#include <string_view>
#include <variant>

#include "mcp/types.h"
#include "service/session_control.h"

namespace igloo::tools {

/// service::SessionControl between two processes: requests and answers as JSON, an object each.
///
/// A request: {"do": "list"}, {"do": "close" | "interrupt", "session": ID},
/// {"do": "net-allow", "sandbox": ID, "rule": RULE, "for": "once" | "session"}, or
/// {"do": "run", "session": ID, "code": ...} with "env" (where the session may begin), "echo",
/// "timeout_ms" (none: never) and "if_idle" (do not wait for others). Answers to "run" are
/// {"output": base64} as it comes, {"waiting": true} when it is not its turn yet; the last answer
/// to everything has "ok" or "error" with "what" and "hint".
mcp::JsonObject Encode(const service::control::Request& request);
Result<service::control::Request> DecodeRequest(std::string_view json);

using ControlMessage = std::variant<service::control::Progress, service::control::Answer>;
/// An answer that says "error" is one.
Result<ControlMessage> DecodeMessage(std::string_view json);

/// Decodes a request, makes the call, and emits its answers, encoded.
boost::asio::awaitable<void> Serve(service::SessionControl& control, std::string request,
                                   Cancellation cancellation,
                                   std::function<void(const mcp::JsonObject&)> emit);

}  // namespace igloo::tools
