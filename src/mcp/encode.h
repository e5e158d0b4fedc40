#pragma once

#include "mcp/types.h"

namespace igloo::mcp {

/// Values as the protocol writes them. What an older revision does not know is left out or, where
/// a client would stumble, written as text.
JsonObject Encode(const Tool& tool, const Dialect& dialect);
JsonObject Encode(const Resource& resource, const Dialect& dialect);
JsonObject Encode(const ResourceTemplate& resource, const Dialect& dialect);
JsonObject Encode(const ResourceContents& contents);
JsonObject Encode(const Prompt& prompt, const Dialect& dialect);
JsonObject Encode(const Content& content, const Dialect& dialect);
JsonObject Encode(const ToolResult& result, const Dialect& dialect);
JsonObject Encode(const PromptResult& result, const Dialect& dialect);
JsonObject Encode(const std::vector<ResourceContents>& contents, const Dialect& dialect);
JsonObject Encode(const InputRequired& needed, const Dialect& dialect);
/// The server's name card; instructions travel elsewhere.
JsonObject Encode(const ServerInfo& info, const Dialect& dialect);
JsonObject Encode(const Features& features, const Dialect& dialect);

inline constexpr std::string_view kTasksExtension = "io.modelcontextprotocol/tasks";
inline constexpr std::string_view kServerInfoKey = "io.modelcontextprotocol/serverInfo";
inline constexpr std::string_view kSubscriptionKey = "io.modelcontextprotocol/subscriptionId";

}  // namespace igloo::mcp
