#include "mcp/encode.h"

#include <algorithm>

#include "base/base64.h"
#include "base/overloaded.h"
#include "mcp/pch.h"

namespace igloo::mcp {

namespace json = boost::json;

namespace {

void PutText(JsonObject& object, std::string_view key, const std::string& text) {
  if (!text.empty()) object[key] = text;
}

bool Since(const Dialect& dialect, std::string_view version) { return dialect.version >= version; }
/// Tools got hints and audio.
bool Second(const Dialect& dialect) { return Since(dialect, "2025-03-26"); }
/// Titles, structured results and links came.
bool Third(const Dialect& dialect) { return Since(dialect, "2025-06-18"); }

void PutTitle(JsonObject& object, const std::string& title, const Dialect& dialect) {
  if (Third(dialect)) PutText(object, "title", title);
}

JsonObject EncodeHints(const Tool& tool) {
  JsonObject hints;
  PutText(hints, "title", tool.title);
  if (tool.hints.read_only) hints["readOnlyHint"] = *tool.hints.read_only;
  if (tool.hints.destructive) hints["destructiveHint"] = *tool.hints.destructive;
  if (tool.hints.idempotent) hints["idempotentHint"] = *tool.hints.idempotent;
  if (tool.hints.open_world) hints["openWorldHint"] = *tool.hints.open_world;
  return hints;
}

JsonObject TextBlock(std::string_view text) { return {{"type", "text"}, {"text", text}}; }

JsonObject MediaBlock(std::string_view type, const Blob& data, const std::string& mime_type) {
  return {{"type", type}, {"data", ToBase64(data.bytes)}, {"mimeType", mime_type}};
}

/// Before 2026-07-28 a result's structured half and its schema are objects.
bool IsObjectSchema(const JsonObject& schema) {
  const json::value* type = schema.if_contains("type");
  return type != nullptr && *type == "object";
}

json::array EncodeAll(const std::vector<Content>& blocks, const Dialect& dialect) {
  json::array all;
  for (const Content& block : blocks) all.push_back(Encode(block, dialect));
  return all;
}

}  // namespace

JsonObject Encode(const Tool& tool, const Dialect& dialect) {
  JsonObject object{{"name", tool.name}};
  PutTitle(object, tool.title, dialect);
  PutText(object, "description", tool.description);
  object["inputSchema"] = tool.input_schema;
  const bool modern = dialect.era == Era::kModern;
  if (tool.output_schema && Third(dialect) && (modern || IsObjectSchema(*tool.output_schema))) {
    object["outputSchema"] = *tool.output_schema;
  }
  if (Second(dialect)) {
    JsonObject hints = EncodeHints(tool);
    if (!hints.empty()) object["annotations"] = std::move(hints);
  }
  if (!tool.meta.empty()) object["_meta"] = tool.meta;
  return object;
}

JsonObject Encode(const Resource& resource, const Dialect& dialect) {
  JsonObject object{{"uri", resource.uri}, {"name", resource.name}};
  PutTitle(object, resource.title, dialect);
  PutText(object, "description", resource.description);
  PutText(object, "mimeType", resource.mime_type);
  if (resource.size) object["size"] = *resource.size;
  return object;
}

JsonObject Encode(const ResourceTemplate& resource, const Dialect& dialect) {
  JsonObject object{{"uriTemplate", resource.uri_template}, {"name", resource.name}};
  PutTitle(object, resource.title, dialect);
  PutText(object, "description", resource.description);
  PutText(object, "mimeType", resource.mime_type);
  return object;
}

JsonObject Encode(const ResourceContents& contents) {
  JsonObject object{{"uri", contents.uri}};
  PutText(object, "mimeType", contents.mime_type);
  std::visit(Overloaded{[&](const std::string& text) { object["text"] = text; },
                        [&](const Blob& blob) { object["blob"] = ToBase64(blob.bytes); }},
             contents.body);
  return object;
}

JsonObject Encode(const Prompt& prompt, const Dialect& dialect) {
  JsonObject object{{"name", prompt.name}};
  PutTitle(object, prompt.title, dialect);
  PutText(object, "description", prompt.description);
  json::array arguments;
  for (const PromptArgument& argument : prompt.arguments) {
    JsonObject one{{"name", argument.name}};
    PutText(one, "description", argument.description);
    one["required"] = argument.required;
    arguments.push_back(std::move(one));
  }
  if (!arguments.empty()) object["arguments"] = std::move(arguments);
  return object;
}

JsonObject Encode(const Content& content, const Dialect& dialect) {
  return std::visit(
      Overloaded{
          [](const content::Text& c) { return TextBlock(c.text); },
          [](const content::Image& c) { return MediaBlock("image", c.data, c.mime_type); },
          [&](const content::Audio& c) {
            return Second(dialect) ? MediaBlock("audio", c.data, c.mime_type)
                                   : TextBlock("[audio, which this client cannot play]");
          },
          [&](const content::Link& c) {
            if (!Third(dialect)) return TextBlock(c.resource.name + ": " + c.resource.uri);
            JsonObject object = Encode(c.resource, dialect);
            object["type"] = "resource_link";
            return object;
          },
          [](const content::Embedded& c) {
            return JsonObject{{"type", "resource"}, {"resource", Encode(c.resource)}};
          },
      },
      content);
}

JsonObject Encode(const ToolResult& result, const Dialect& dialect) {
  JsonObject object{{"content", EncodeAll(result.content, dialect)}};
  const bool modern = dialect.era == Era::kModern;
  if (result.structured && Third(dialect) && (modern || result.structured->is_object())) {
    object["structuredContent"] = *result.structured;
  }
  if (result.is_error) object["isError"] = true;
  if (!result.meta.empty()) object["_meta"] = result.meta;
  return object;
}

JsonObject Encode(const PromptResult& result, const Dialect& dialect) {
  JsonObject object;
  PutText(object, "description", result.description);
  json::array messages;
  for (const PromptMessage& message : result.messages) {
    messages.push_back(JsonObject{{"role", message.role == Role::kUser ? "user" : "assistant"},
                                  {"content", Encode(message.content, dialect)}});
  }
  object["messages"] = std::move(messages);
  return object;
}

JsonObject Encode(const std::vector<ResourceContents>& contents, const Dialect& dialect) {
  json::array all;
  for (const ResourceContents& one : contents) all.push_back(Encode(one));
  JsonObject object{{"contents", std::move(all)}};
  if (dialect.era == Era::kModern) {
    object["ttlMs"] = 0;
    object["cacheScope"] = "private";
  }
  return object;
}

JsonObject Encode(const InputRequired& needed, const Dialect&) {
  JsonObject object{{"resultType", "input_required"}};
  if (!needed.requests.empty()) object["inputRequests"] = needed.requests;
  PutText(object, "requestState", needed.state);
  return object;
}

JsonObject Encode(const ServerInfo& info, const Dialect& dialect) {
  JsonObject object{{"name", info.name}, {"version", info.version}};
  PutTitle(object, info.title, dialect);
  if (Since(dialect, "2025-11-25")) {
    PutText(object, "description", info.description);
    PutText(object, "websiteUrl", info.website);
  }
  return object;
}

JsonObject Encode(const Features& features, const Dialect& dialect) {
  JsonObject object;
  JsonObject lists;
  if (features.list_changes) lists["listChanged"] = true;
  if (features.tools) object["tools"] = lists;
  if (features.resources) {
    JsonObject resources = lists;
    if (features.subscriptions) resources["subscribe"] = true;
    object["resources"] = std::move(resources);
  }
  if (features.prompts) object["prompts"] = std::move(lists);
  if (features.logging) object["logging"] = JsonObject{};
  if (features.tasks && dialect.era == Era::kModern) {
    object["extensions"] = JsonObject{{kTasksExtension, JsonObject{}}};
  }
  for (const auto& [name, capability] : features.others) object[name] = capability;
  return object;
}

}  // namespace igloo::mcp
