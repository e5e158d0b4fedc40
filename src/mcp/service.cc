#include "mcp/service.h"

#include "base/text.h"
#include "mcp/pch.h"

namespace igloo::mcp {

namespace asio = boost::asio;

asio::awaitable<Answer<Outcome<ToolResult>>> Service::Run(Call&, ToolCall request) {
  co_return Refuse(RpcCode::kInvalidParams, "Unknown tool: " + Quoted(request.name));
}

asio::awaitable<Answer<Outcome<std::vector<ResourceContents>>>> Service::Read(
    Call&, ReadResource request) {
  co_return ResourceNotFound(request.uri);
}

asio::awaitable<Answer<Outcome<PromptResult>>> Service::Prepare(Call&, GetPrompt request) {
  co_return Refuse(RpcCode::kInvalidParams, "Unknown prompt: " + Quoted(request.name));
}

std::unexpected<RpcError> ResourceNotFound(const std::string& uri) {
  const std::string named = Quoted(uri);
  return std::unexpected(
      RpcError{RpcCode::kInvalidParams,
               "Resource not found: '" + named + "'; resources/list has those that exist",
               JsonObject{{"uri", named}}});
}

ToolResult ToolFailure(std::string text) {
  ToolResult result;
  result.content.emplace_back(content::Text{std::move(text)});
  result.is_error = true;
  return result;
}

}  // namespace igloo::mcp
