#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "mcp/http_address.h"
#include "mcp/json_rpc.h"
#include "mcp/types.h"

namespace igloo::mcp {

/// The headers of a request that decide anything; empty where there is none.
struct HttpHeaders {
  std::string host = {}, origin = {}, authorization = {};
  std::string content_type = {};
  std::string version = {};  ///< MCP-Protocol-Version
  std::string method = {};   ///< Mcp-Method
  std::string name = {};     ///< Mcp-Name
  std::string session = {};  ///< Mcp-Session-Id
};

/// Whether `authority` (`localhost:80`, `[::1]`) is one of a server's own names, whatever the port.
bool HostAllowed(std::string_view authority, const OwnNames& own);
/// Whether a page of `origin` may speak to this server: only one that came from its own name and
/// port. SECURITY: a browser sends it for every page; without the check any web site could run code
/// here (DNS rebinding), and so could whatever else serves pages on this machine.
bool OriginAllowed(std::string_view origin, const OwnNames& own);
/// SECURITY: all else a browser sends for a page without asking the server first.
bool IsJson(std::string_view content_type);
/// Compares in a time that does not tell where the difference is.
bool TokenMatches(std::string_view authorization, std::string_view token);

/// The era that the headers speak, which must say the same as the message.
Answer<Era> CheckHeaders(const HttpHeaders& headers, const Message& message);

/// The status of a response that is a single JSON message.
unsigned StatusOf(Era era, std::optional<RpcCode> error);

}  // namespace igloo::mcp
