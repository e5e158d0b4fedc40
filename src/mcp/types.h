#pragma once

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/value.hpp>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace igloo::mcp {

using Json = boost::json::value;
using JsonObject = boost::json::object;

/// The two ways in which clients speak: with a handshake and a connection's state, or with
/// everything in every request.
enum class Era { kLegacy, kModern };

/// A revision of the protocol. Their names are dates, so they compare as texts.
struct Dialect {
  Era era = Era::kLegacy;
  std::string version = "2025-11-25";

  bool operator==(const Dialect&) const = default;
};

inline constexpr std::string_view kModernVersion = "2026-07-28";
inline constexpr std::string_view kLegacyVersions[] = {"2025-11-25", "2025-06-18", "2025-03-26",
                                                       "2024-11-05"};

/// Who serves.
struct ServerInfo {
  std::string name = {}, version = {};
  std::string title = {}, description = {}, website = {};  ///< empty: not said
  std::string instructions = {};  ///< for the model; clients cut it at 4,096 characters
};

/// What is served at all. Methods of the rest do not exist for clients.
struct Features {
  bool tools = true;
  bool resources = false;
  bool prompts = false;
  bool logging = false;
  bool tasks = false;  ///< calls that take long go on in the background, if the client knows how
  bool list_changes = true;    ///< it is announced when one of the lists has changed
  bool subscriptions = false;  ///< it is announced when a resource that a client named has changed
  JsonObject others = {};      ///< capabilities of the service's own methods
};

/// What a client may assume about a tool. Clients decide by them whether they ask their user.
struct ToolHints {
  std::optional<bool> read_only = {}, destructive = {}, idempotent = {}, open_world = {};
  bool operator==(const ToolHints&) const = default;
};

/// Whether a call may go on as a task after its request was answered (2026-07-28, extension).
enum class Background {
  kNever,
  kWhenSlow,  ///< once it has taken longer than ServerOptions::task_grace
  kAlways,    ///< at once, for clients that know tasks; others wait for the result
  kOnly,      ///< like kWhenSlow without patience, and refused to clients that do not know tasks
};

struct Tool {
  std::string name = {};
  std::string title = {}, description = {};
  JsonObject input_schema = {{"type", "object"}};
  std::optional<JsonObject> output_schema = {};
  ToolHints hints = {};
  Background background = Background::kNever;
  JsonObject meta = {};
};

/// Bytes that travel in base64.
struct Blob {
  std::string bytes = {};
};

struct Resource {
  std::string uri = {}, name = {};
  std::string title = {}, description = {}, mime_type = {};
  std::optional<std::uint64_t> size = {};
};

struct ResourceTemplate {
  std::string uri_template = {}, name = {};
  std::string title = {}, description = {}, mime_type = {};
};

struct ResourceContents {
  std::string uri = {}, mime_type = {};
  std::variant<std::string, Blob> body = {};
};

namespace content {
struct Text {
  std::string text = {};
};
struct Image {
  Blob data = {};
  std::string mime_type = {};
};
struct Audio {
  Blob data = {};
  std::string mime_type = {};
};
struct Link {
  Resource resource = {};
};
struct Embedded {
  ResourceContents resource = {};
};
}  // namespace content
using Content =
    std::variant<content::Text, content::Image, content::Audio, content::Link, content::Embedded>;

/// Clients show either the content or the structured half, so each of them tells everything.
struct ToolResult {
  std::vector<Content> content = {};
  std::optional<Json> structured = {};
  bool is_error = false;
  JsonObject meta = {};
};

struct PromptArgument {
  std::string name = {}, description = {};
  bool required = false;
};

struct Prompt {
  std::string name = {};
  std::string title = {}, description = {};
  std::vector<PromptArgument> arguments = {};
};

enum class Role { kUser, kAssistant };

struct PromptMessage {
  Role role = Role::kUser;
  Content content = {};
};

struct PromptResult {
  std::string description = {};
  std::vector<PromptMessage> messages = {};
};

/// A question to the client in the middle of a call (2026-07-28): it asks again with the answers.
struct InputRequired {
  JsonObject requests = {};  ///< by a name of the service's choice
  /// Comes back with the answers. SECURITY: the client can change it; a service that relies on it
  /// signs it.
  std::string state = {};
};

template <class T>
using Outcome = std::variant<T, InputRequired>;

struct ToolCall {
  std::string name = {};
  JsonObject arguments = {};
};

struct ReadResource {
  std::string uri = {};
};

struct GetPrompt {
  std::string name = {};
  std::map<std::string, std::string> arguments = {};
};

enum class LogLevel {
  kDebug,
  kInfo,
  kNotice,
  kWarning,
  kError,
  kCritical,
  kAlert,
  kEmergency,
};
std::string_view Name(LogLevel level);
std::optional<LogLevel> ToLogLevel(std::string_view name);

}  // namespace igloo::mcp
