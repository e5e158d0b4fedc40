#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/error.h"

namespace igloo::clients {

/// How a client's file is written. Plain JSON has no comments: a client that cannot read them
/// would call the file broken, and so does igloo.
enum class Format { kJson, kJsonc, kToml };

/// One field of the block that starts igloo, in the order in which it is written.
struct Field {
  enum class Kind {
    kCommand,      ///< the program, a string
    kArgs,         ///< its arguments, a list
    kCommandLine,  ///< both in one list
    kLiteral,      ///< what `literal` says; it means the same in JSON and in TOML
  };
  std::string_view key;
  Kind kind = Kind::kLiteral;
  std::string_view literal = {};
};

enum class Scope { kUser, kProject };
enum class Base { kHome, kConfigHome };

/// A client that can start MCP servers: one row of the table, and all that igloo knows of it.
struct Client {
  std::string_view name;     ///< as it is typed: "claude-code"
  std::string_view title;    ///< as people call it
  std::string_view aliases;  ///< other names, with spaces between
  Format format = Format::kJson;
  Base base = Base::kHome;        ///< what the user's file stands below
  std::string_view key;           ///< where its servers stand, at the top of the file
  std::span<const Field> fields;  ///< what a server's block holds
  std::string_view user_file;     ///< below the base
  /// A variable that moves the file, and the file's name below it; empty: there is none.
  std::string_view variable = {};
  std::string_view variable_file = {};
  std::string_view project_file = {};  ///< below the project; empty: it has no such thing
  /// The name the file has instead when only that one exists.
  std::string_view other_suffix = {};
  std::string_view after;  ///< what to do so that the client notices
};

namespace table {
inline constexpr Field kTyped[] = {{"type", Field::Kind::kLiteral, "\"stdio\""},
                                   {"command", Field::Kind::kCommand},
                                   {"args", Field::Kind::kArgs}};
inline constexpr Field kPlain[] = {{"command", Field::Kind::kCommand},
                                   {"args", Field::Kind::kArgs}};
// The code's own time limit is the one that should be met first, so clients wait longer.
inline constexpr Field kGemini[] = {{"command", Field::Kind::kCommand},
                                    {"args", Field::Kind::kArgs},
                                    {"timeout", Field::Kind::kLiteral, "600000"}};
// Codex hands its servers little more than HOME and PATH unless it is told to.
inline constexpr Field kCodex[] = {{"command", Field::Kind::kCommand},
                                   {"args", Field::Kind::kArgs},
                                   {"env_vars", Field::Kind::kLiteral,
                                    R"(["XDG_RUNTIME_DIR", "XDG_CONFIG_HOME", "XDG_STATE_HOME"])"},
                                   {"tool_timeout_sec", Field::Kind::kLiteral, "600"}};
inline constexpr Field kOpencode[] = {{"type", Field::Kind::kLiteral, "\"local\""},
                                      {"command", Field::Kind::kCommandLine},
                                      {"enabled", Field::Kind::kLiteral, "true"}};
}  // namespace table

inline constexpr Client kClients[] = {
    {.name = "claude-code",
     .title = "Claude Code",
     .aliases = "claude",
     .key = "mcpServers",
     .fields = table::kTyped,
     .user_file = ".claude.json",
     .variable = "CLAUDE_CONFIG_DIR",
     .variable_file = ".claude.json",
     .project_file = ".mcp.json",
     .after = "start a new 'claude'; 'claude mcp list' shows it"},
    {.name = "claude-desktop",
     .title = "Claude Desktop",
     .aliases = "desktop",
     .base = Base::kConfigHome,
     .key = "mcpServers",
     .fields = table::kPlain,
     .user_file = "Claude/claude_desktop_config.json",
     .after = "quit Claude Desktop and start it again"},
    {.name = "codex",
     .title = "Codex",
     .aliases = "codex-cli",
     .format = Format::kToml,
     .key = "mcp_servers",
     .fields = table::kCodex,
     .user_file = ".codex/config.toml",
     .variable = "CODEX_HOME",
     .variable_file = "config.toml",
     .project_file = ".codex/config.toml",
     .after = "start a new 'codex'; 'codex mcp list' shows it"},
    {.name = "gemini",
     .title = "Gemini CLI",
     .aliases = "gemini-cli",
     .format = Format::kJsonc,
     .key = "mcpServers",
     .fields = table::kGemini,
     .user_file = ".gemini/settings.json",
     .project_file = ".gemini/settings.json",
     .after = "start a new 'gemini' in a folder that it trusts; 'gemini mcp list' shows it"},
    {.name = "opencode",
     .title = "opencode",
     .aliases = "open-code",
     .format = Format::kJsonc,
     .base = Base::kConfigHome,
     .key = "mcp",
     .fields = table::kOpencode,
     .user_file = "opencode/opencode.json",
     .project_file = "opencode.json",
     .other_suffix = "c",
     .after = "start a new 'opencode'; 'opencode mcp list' shows it"},
    {.name = "cursor",
     .title = "Cursor",
     .aliases = "",
     .format = Format::kJsonc,
     .key = "mcpServers",
     .fields = table::kTyped,
     .user_file = ".cursor/mcp.json",
     .project_file = ".cursor/mcp.json",
     .after = "turn the server on in Cursor's settings, under MCP"},
    {.name = "vscode",
     .title = "VS Code",
     .aliases = "code vs-code",
     .format = Format::kJsonc,
     .base = Base::kConfigHome,
     .key = "servers",
     .fields = table::kTyped,
     .user_file = "Code/User/mcp.json",
     .project_file = ".vscode/mcp.json",
     .after = "run 'MCP: List Servers' in VS Code and start it"},
};

/// By name or alias; says which clients there are otherwise.
Result<const Client*> FindClient(std::string_view name);

/// The value of a variable of the caller's environment; empty when it is not set.
using Variables = std::function<std::string(std::string_view)>;

/// The file that the client reads in this scope; `project` is the project's absolute path. Looks
/// only at which of two names exists.
Result<std::string> FileOf(const Client& client, Scope scope, const Variables& variables,
                           const std::string& project);

}  // namespace igloo::clients
