#include "mcp/params.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "mcp/pch.h"

namespace igloo::mcp {

namespace json = boost::json;

namespace {

constexpr std::string_view kVersionKey = "io.modelcontextprotocol/protocolVersion";
constexpr std::string_view kClientInfoKey = "io.modelcontextprotocol/clientInfo";
constexpr std::string_view kClientCapabilitiesKey = "io.modelcontextprotocol/clientCapabilities";
constexpr std::string_view kLogLevelKey = "io.modelcontextprotocol/logLevel";
/// A listener may name this many resources, in so many bytes; more would be a way to fill memory.
constexpr std::size_t kMostUris = 1000;
constexpr std::size_t kMostUriBytes = 256U << 10;

const JsonObject* ObjectIn(const JsonObject& object, std::string_view name) {
  const json::value* value = object.if_contains(name);
  return value != nullptr ? value->if_object() : nullptr;
}

std::string TextIn(const JsonObject* object, std::string_view name) {
  const json::value* value = object != nullptr ? object->if_contains(name) : nullptr;
  return value != nullptr && value->is_string() ? std::string(value->get_string()) : std::string();
}

std::unexpected<RpcError> Wrong(std::string message) {
  return Refuse(RpcCode::kInvalidParams, std::move(message));
}

/// `name` of `params` as an object; no such member is an empty one.
Answer<JsonObject> OptionalObject(const JsonObject& params, std::string_view name) {
  const json::value* value = params.if_contains(name);
  if (value == nullptr) return JsonObject{};
  if (!value->is_object()) return Wrong(fmt::format("'{}' must be an object", name));
  return value->get_object();
}

Answer<std::map<std::string, std::string>> TextMap(const JsonObject& params,
                                                   std::string_view name) {
  std::map<std::string, std::string> texts;
  auto object = OptionalObject(params, name);
  if (!object) return std::unexpected(object.error());
  for (const auto& [key, value] : *object) {
    if (!value.is_string()) {
      return Wrong(fmt::format("'{}' of '{}' must be a text", Quoted(key), name));
    }
    texts.emplace(key, value.get_string());
  }
  return texts;
}

Answer<std::set<std::string>> TextSet(const JsonObject& params, std::string_view name) {
  std::set<std::string> texts;
  const json::value* value = params.if_contains(name);
  if (value == nullptr) return texts;
  const json::array* array = value->if_array();
  if (array == nullptr || array->size() > kMostUris) {
    return Wrong(fmt::format("'{}' must be a list of at most {} texts", name, kMostUris));
  }
  std::size_t bytes = 0;
  for (const json::value& one : *array) {
    if (!one.is_string()) return Wrong(fmt::format("'{}' must hold nothing but texts", name));
    bytes += one.get_string().size();
    if (bytes > kMostUriBytes) {
      return Wrong(fmt::format("'{}' must have at most {} bytes", name, kMostUriBytes));
    }
    texts.emplace(one.get_string());
  }
  return texts;
}

bool Wants(const JsonObject& filter, std::string_view name) {
  const json::value* value = filter.if_contains(name);
  return value != nullptr && value->is_bool() && value->get_bool();
}

}  // namespace

Answer<std::string> DecodeText(const JsonObject& params, std::string_view name) {
  const json::value* value = params.if_contains(name);
  if (value == nullptr || !value->is_string()) {
    return Wrong(fmt::format("'{}' is required and must be a text", name));
  }
  return std::string(value->get_string());
}

Answer<ToolCall> DecodeToolCall(const JsonObject& params) {
  auto name = DecodeText(params, "name");
  if (!name) return std::unexpected(name.error());
  auto arguments = OptionalObject(params, "arguments");
  if (!arguments) return std::unexpected(arguments.error());
  return ToolCall{*std::move(name), *std::move(arguments)};
}

Answer<ReadResource> DecodeReadResource(const JsonObject& params) {
  auto uri = DecodeText(params, "uri");
  if (!uri) return std::unexpected(uri.error());
  return ReadResource{*std::move(uri)};
}

Answer<GetPrompt> DecodeGetPrompt(const JsonObject& params) {
  auto name = DecodeText(params, "name");
  if (!name) return std::unexpected(name.error());
  auto arguments = TextMap(params, "arguments");
  if (!arguments) return std::unexpected(arguments.error());
  return GetPrompt{*std::move(name), *std::move(arguments)};
}

Answer<LogLevel> DecodeLogLevel(const JsonObject& params) {
  const auto level = ToLogLevel(TextIn(&params, "level"));
  if (!level) {
    return Wrong(
        "'level' must be debug, info, notice, warning, error, critical, alert or emergency");
  }
  return *level;
}

Answer<std::string> DecodeCursor(const JsonObject& params) {
  return params.contains("cursor") ? DecodeText(params, "cursor") : std::string();
}

Answer<Introduction> DecodeInitialize(const JsonObject& params) {
  auto asked = DecodeText(params, "protocolVersion");
  if (!asked) return std::unexpected(asked.error());
  auto capabilities = OptionalObject(params, "capabilities");
  if (!capabilities) return std::unexpected(capabilities.error());
  const bool known = std::ranges::find(kLegacyVersions, *asked) != std::end(kLegacyVersions);
  return Introduction{known ? *asked : std::string(kLegacyVersions[0]),
                      TextIn(ObjectIn(params, "clientInfo"), "name"), *std::move(capabilities)};
}

Answer<Filter> DecodeFilter(const JsonObject& params) {
  const JsonObject* wanted = ObjectIn(params, "notifications");
  if (wanted == nullptr) return Wrong("'notifications' is required and must be an object");
  auto uris = TextSet(*wanted, "resourceSubscriptions");
  if (!uris) return std::unexpected(uris.error());
  auto tasks = TextSet(*wanted, "taskIds");
  if (!tasks) return std::unexpected(tasks.error());
  return Filter{Wants(*wanted, "toolsListChanged"), Wants(*wanted, "promptsListChanged"),
                Wants(*wanted, "resourcesListChanged"), *std::move(uris), *std::move(tasks)};
}

JsonObject Encode(const Filter& filter) {
  JsonObject object;
  if (filter.tools) object["toolsListChanged"] = true;
  if (filter.prompts) object["promptsListChanged"] = true;
  if (filter.resources) object["resourcesListChanged"] = true;
  const auto put = [&](std::string_view name, const std::set<std::string>& texts) {
    if (!texts.empty()) object[name] = json::array(texts.begin(), texts.end());
  };
  put("resourceSubscriptions", filter.uris);
  put("taskIds", filter.tasks);
  return object;
}

bool LooksModern(const JsonObject& params) {
  const JsonObject* meta = ObjectIn(params, "_meta");
  return meta != nullptr && (meta->contains(kVersionKey) || meta->contains(kClientInfoKey) ||
                             meta->contains(kClientCapabilitiesKey));
}

std::unexpected<RpcError> UnsupportedVersion(std::string_view version) {
  const std::string named = Quoted(version);
  return std::unexpected(RpcError{
      RpcCode::kUnsupportedVersion,
      fmt::format(
          "protocol version '{}' is not served in this way; use {}, or begin with initialize",
          named, kModernVersion),
      JsonObject{{"supported", json::array{kModernVersion}}, {"requested", named}}});
}

Answer<CallFacts> DecodeModernFacts(const JsonObject& params) {
  const JsonObject* meta = ObjectIn(params, "_meta");
  if (meta == nullptr) {
    return Wrong(fmt::format("'_meta' with '{}' and '{}' is required in every request", kVersionKey,
                             kClientCapabilitiesKey));
  }
  auto version = DecodeText(*meta, kVersionKey);
  if (!version) return std::unexpected(version.error());
  if (*version != kModernVersion) return UnsupportedVersion(*version);
  const JsonObject* capabilities = ObjectIn(*meta, kClientCapabilitiesKey);
  if (capabilities == nullptr) {
    return Wrong(fmt::format("'{}' is required and must be an object", kClientCapabilitiesKey));
  }
  CallFacts facts;
  facts.dialect = {Era::kModern, *std::move(version)};
  facts.client_capabilities = *capabilities;
  facts.client_name = TextIn(ObjectIn(*meta, kClientInfoKey), "name");
  facts.log_level = ToLogLevel(TextIn(meta, kLogLevelKey));
  return facts;
}

void AddCommonFacts(const JsonObject& params, CallFacts& facts) {
  if (const JsonObject* meta = ObjectIn(params, "_meta")) {
    const json::value* token = meta->if_contains("progressToken");
    // It comes back with every message, as an id does.
    const bool text = token != nullptr && token->is_string();
    if ((text && token->get_string().size() <= kLongestId) ||
        (token != nullptr && token->is_number())) {
      facts.progress_token = *token;
    }
  }
  if (facts.dialect.era != Era::kModern) return;
  if (const JsonObject* answers = ObjectIn(params, "inputResponses")) {
    facts.input_responses = *answers;
  }
  facts.request_state = TextIn(&params, "requestState");
}

}  // namespace igloo::mcp
