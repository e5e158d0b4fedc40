#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "mcp/call.h"
#include "mcp/json_rpc.h"
#include "mcp/types.h"

namespace igloo::mcp {

/// A request's parameters as values. Members that the protocol does not name are ignored.
Answer<ToolCall> DecodeToolCall(const JsonObject& params);
Answer<ReadResource> DecodeReadResource(const JsonObject& params);
Answer<GetPrompt> DecodeGetPrompt(const JsonObject& params);
Answer<LogLevel> DecodeLogLevel(const JsonObject& params);
/// `name` of `params`, which must be a text.
Answer<std::string> DecodeText(const JsonObject& params, std::string_view name);
/// Empty when there is none.
Answer<std::string> DecodeCursor(const JsonObject& params);

/// What a client says of itself in `initialize`.
struct Introduction {
  std::string version = {};  ///< the one to speak, whatever the client asked for
  std::string client_name = {};
  JsonObject capabilities = {};
};
Answer<Introduction> DecodeInitialize(const JsonObject& params);

/// Which notifications a `subscriptions/listen` asks for.
struct Filter {
  bool tools = false, prompts = false, resources = false;
  std::set<std::string> uris = {};
  std::set<std::string> tasks = {};

  bool operator==(const Filter&) const = default;
};
Answer<Filter> DecodeFilter(const JsonObject& params);
JsonObject Encode(const Filter& filter);

/// Whether the request speaks as 2026-07-28 does, rightly or not.
bool LooksModern(const JsonObject& params);
/// The facts in a modern request's `_meta`, all of which it must carry.
/// For a revision that nobody speaks here.
[[nodiscard]] std::unexpected<RpcError> UnsupportedVersion(std::string_view version);
Answer<CallFacts> DecodeModernFacts(const JsonObject& params);
/// What a request of any era may add to its facts: progress token, answers to questions.
void AddCommonFacts(const JsonObject& params, CallFacts& facts);

}  // namespace igloo::mcp
