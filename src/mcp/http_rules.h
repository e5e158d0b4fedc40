#pragma once

#include <optional>
#include <string>
#include <vector>

#include "http/fields.h"
#include "mcp/json_rpc.h"
#include "mcp/types.h"

namespace igloo::mcp {

inline constexpr const char* kSessionHeader = "Mcp-Session-Id";

/// The protocol's own headers of a request; empty where there is none.
struct HttpHeaders {
  std::string version = {};  ///< MCP-Protocol-Version
  std::string method = {};   ///< Mcp-Method
  std::string name = {};     ///< Mcp-Name
  std::string session = {};  ///< Mcp-Session-Id
};
HttpHeaders HeadersOf(const http::Fields& fields);
/// Their names. SECURITY: a request has each of them at most once, or it would be unclear which one
/// counts.
std::vector<std::string> HeaderNames();

/// The era that the headers speak, which must say the same as the message.
Answer<Era> CheckHeaders(const HttpHeaders& headers, const Message& message);

/// The status of a response that is a single JSON message.
unsigned StatusOf(Era era, std::optional<RpcCode> error);

}  // namespace igloo::mcp
