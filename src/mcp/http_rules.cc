#include "mcp/http_rules.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/base64.h"
#include "base/text.h"
#include "mcp/params.h"
#include "mcp/pch.h"

namespace igloo::mcp {

namespace {

constexpr const char* kVersionHeader = "MCP-Protocol-Version";
constexpr const char* kMethodHeader = "Mcp-Method";
constexpr const char* kNameHeader = "Mcp-Name";

std::unexpected<RpcError> Mismatch(std::string message) {
  return Refuse(RpcCode::kHeaderMismatch, std::move(message));
}

/// The parameter that Mcp-Name repeats; empty for methods that have none.
std::string_view NameParameter(std::string_view method) {
  if (method == "tools/call" || method == "prompts/get") return "name";
  if (method == "resources/read") return "uri";
  if (method == "tasks/get" || method == "tasks/update" || method == "tasks/cancel") {
    return "taskId";
  }
  return {};
}

/// Header values that are not plain ASCII travel as =?base64?...?=.
std::string DecodeHeader(std::string_view value) {
  constexpr std::string_view kPrefix = "=?base64?", kSuffix = "?=";
  if (value.size() < kPrefix.size() + kSuffix.size() || !value.starts_with(kPrefix) ||
      !value.ends_with(kSuffix)) {
    return std::string(value);
  }
  value.remove_prefix(kPrefix.size());
  value.remove_suffix(kSuffix.size());
  return FromBase64(value).value_or("");
}

std::string VersionInBody(const JsonObject& params) {
  const Json* meta = params.if_contains("_meta");
  const Json* version =
      meta != nullptr && meta->is_object()
          ? meta->get_object().if_contains("io.modelcontextprotocol/protocolVersion")
          : nullptr;
  return version != nullptr && version->is_string() ? std::string(version->get_string()) : "";
}

Answer<Era> CheckModern(const HttpHeaders& headers, const Request& request) {
  if (headers.method != request.method) {
    return Mismatch(
        fmt::format("the header Mcp-Method must repeat the method '{}'", Quoted(request.method)));
  }
  const std::string_view parameter = NameParameter(request.method);
  if (parameter.empty()) return Era::kModern;
  const Json* name = request.params.if_contains(parameter);
  // Without the parameter there is nothing to repeat; its absence is refused later.
  if (name == nullptr || !name->is_string()) return Era::kModern;
  if (DecodeHeader(headers.name) != std::string_view(name->get_string())) {
    return Mismatch(fmt::format("the header Mcp-Name must repeat '{}'", parameter));
  }
  return Era::kModern;
}

}  // namespace

HttpHeaders HeadersOf(const http::Fields& fields) {
  return {.version = std::string(fields.Get(kVersionHeader)),
          .method = std::string(fields.Get(kMethodHeader)),
          .name = std::string(fields.Get(kNameHeader)),
          .session = std::string(fields.Get(kSessionHeader))};
}

std::vector<std::string> HeaderNames() {
  return {kVersionHeader, kMethodHeader, kNameHeader, kSessionHeader};
}

Answer<Era> CheckHeaders(const HttpHeaders& headers, const Message& message) {
  const auto* request = std::get_if<Request>(&message);
  const bool modern_body = request != nullptr && LooksModern(request->params);
  const bool legacy_header =
      headers.version.empty() ||
      std::ranges::find(kLegacyVersions, headers.version) != std::end(kLegacyVersions);
  if (legacy_header) {
    if (modern_body) {
      return Mismatch(fmt::format("the header {} must repeat the protocol version of the body",
                                  kVersionHeader));
    }
    return Era::kLegacy;
  }
  const std::string in_body = request != nullptr ? VersionInBody(request->params) : std::string();
  if (!in_body.empty() && in_body != headers.version) {
    return Mismatch(fmt::format("{} says '{}' and the body '{}'", kVersionHeader,
                                Quoted(headers.version), Quoted(in_body)));
  }
  // What is no message at all is refused for that.
  const bool unknown = headers.version != kModernVersion;
  if (unknown && !std::holds_alternative<Refusal>(message)) {
    return UnsupportedVersion(headers.version);
  }
  return request != nullptr ? CheckModern(headers, *request) : Answer<Era>(Era::kModern);
}

unsigned StatusOf(Era era, std::optional<RpcCode> error) {
  if (!error) return 200;
  switch (*error) {
    case RpcCode::kParseError:
    case RpcCode::kInvalidRequest:
    case RpcCode::kHeaderMismatch:
    case RpcCode::kMissingCapability:
    case RpcCode::kUnsupportedVersion:
      return 400;
    case RpcCode::kInvalidParams:
      return era == Era::kModern ? 400 : 200;
    case RpcCode::kMethodNotFound:
      return era == Era::kModern ? 404 : 200;
    case RpcCode::kBusy:
      return 429;
    case RpcCode::kInternalError:
      break;
  }
  return 200;
}

}  // namespace igloo::mcp
