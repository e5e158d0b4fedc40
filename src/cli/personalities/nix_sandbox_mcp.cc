#include "cli/personalities/nix_sandbox_mcp.h"

#include <unistd.h>

#include <charconv>

#include "base/text.h"
#include "cli/commands.h"
#include "cli/config/settings.h"
#include "cli/console.h"
#include "cli/mcp/log_level.h"
#include "cli/mcp/serve.h"
#include "config/load.h"
#include "config/nix_sandbox_mcp.h"
#include "service/caller.h"
#include "service/environments.h"
#include "tools/original.h"

namespace igloo::cli {
namespace {

constexpr Flag kFlags[] = {
    {"--stdio", "", "serve a client on standard input and output; so without any option"},
    {"--log-level", "LEVEL", "trace, debug, info (default), warn or error", Values::kChoices,
     "trace debug info warn error"},
    {"--version", "", "say which version this is"},
};

constexpr Command kCommand = {
    .name = "nix-sandbox-mcp",
    .summary = "one MCP tool that runs code in sandboxes, served by igloo",
    .usage = "[--stdio] [--log-level LEVEL]",
    .flags = kFlags,
    .words = {},
    .details = "",
    .run = nullptr,
};

constexpr const char* kVersion = "0.1.0";

/// Seconds in a variable of the caller's, in milliseconds; what is no number says nothing.
std::optional<std::uint64_t> Milliseconds(const char* name, Console& console) {
  const auto text = service::CallersVariable(name);
  if (!text || text->empty()) return std::nullopt;
  std::uint64_t seconds = 0;
  const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), seconds);
  constexpr std::uint64_t kMost = 30ULL * 86'400;
  if (error == std::errc() && end == text->data() + text->size() && seconds > 0 &&
      seconds <= kMost) {
    return seconds * 1000;
  }
  console.Note(std::string(name) + " is '" + Printable(*text) + "', no number of seconds; ignored");
  return std::nullopt;
}

/// How long sessions live, for a configuration that does not say.
struct SessionTimes {
  std::optional<std::uint64_t> idle_ms = {}, lifetime_ms = {};
  void Apply(config::SessionConfig& session) const {
    session.idle_ms = idle_ms.value_or(session.idle_ms);
    session.lifetime_ms = lifetime_ms.value_or(session.lifetime_ms);
  }
};

/// Its own file with the same content, which was there before the variable.
std::string UsualMetadataFile() {
  const std::string xdg = service::CallersVariable("XDG_CONFIG_HOME").value_or("");
  const std::string home = service::CallersVariable("HOME").value_or("");
  if (!xdg.starts_with('/') && !home.starts_with('/')) return "";
  return (xdg.starts_with('/') ? xdg : home + "/.config") + "/nix-sandbox-mcp/environments.json";
}

/// What Nix made of nix-sandbox-mcp's own configuration: in the variable of its wrapper, in the
/// file that the variable names, or in environments.json.
Result<config::NixSandboxMetadata> ReadMetadata() {
  constexpr const char* kVariable = "NIX_SANDBOX_METADATA";
  std::string text = service::CallersVariable(kVariable).value_or("");
  std::string from = kVariable;
  const bool named = text.starts_with('/');
  if (named || text.empty()) {
    from = named ? text : UsualMetadataFile();
    if (!named && ::access(from.c_str(), F_OK) != 0) return config::NixSandboxMetadata{};
    auto read = config::ReadConfigFile(from);
    if (!read) {
      Error error = std::move(read).error();
      if (named) error.hint = "name a file that is there, or leave the variable out";
      return Wrap(named ? kVariable : "environments.json", std::move(error));
    }
    text = *std::move(read);
  }
  return config::ReadNixSandboxMetadata(text, service::NixStore({}), from);
}

/// PROJECT_DIR beats what the metadata names, and PROJECT_MOUNT its place.
ParsedArgs WithProjectOf(const config::NixSandboxMetadata& metadata, ParsedArgs args) {
  if (metadata.project.path.empty()) return args;
  args.flags.emplace("--project", metadata.project.path);
  if (!metadata.project.mount_point.empty()) {
    args.flags.emplace(kProjectMountFlag, metadata.project.mount_point);
  }
  return args;
}

/// RUST_LOG, then --log-level, then igloo's configuration, which is read again with every change.
std::optional<LogLevel> LevelFor(const ParsedArgs& args) {
  const auto filtered =
      FilterLevel(service::CallersVariable("RUST_LOG").value_or(""), "nix_sandbox_mcp");
  if (filtered) return filtered;
  const auto word = args.Get("--log-level");
  return word ? FindLogLevel(*word) : std::nullopt;
}

Result<int> ServeOriginal(const ParsedArgs& args, Console& console) {
  if (const auto word = args.Get("--log-level"); word && !FindLogLevel(*word)) {
    return Fail(Errc::kInvalidArgument, "there is no log level '" + Printable(*word) + "'",
                "write trace, debug, info, warn or error");
  }
  const std::optional<LogLevel> level = LevelFor(args);
  const config::DaemonConfig daemon = ReadDaemon({});
  if (!args.Has("--stdio")) IGLOO_TRY(RefuseHttp(daemon, kNixSandboxMcp));
  const bool warns = level.value_or(WantedLevel(daemon)) >= LogLevel::kWarn;
  const auto warn = [&](std::string_view text) {
    if (warns) console.Note(text);
  };
  IGLOO_ASSIGN(const config::NixSandboxMetadata metadata, ReadMetadata());
  SessionTimes named{.idle_ms = Milliseconds("SESSION_IDLE_TIMEOUT", console),
                     .lifetime_ms = Milliseconds("SESSION_MAX_LIFETIME", console)};
  const auto adapt = [named, metadata](config::Config& config) {
    config.project.inherit.insert(config.project.inherit.end(), metadata.project.inherit.begin(),
                                  metadata.project.inherit.end());
    const auto& session = metadata.session;
    if (!config.session.given && !session) named.Apply(config.session);
    if (!session) return;
    const auto times = [](const std::optional<std::uint64_t>& seconds) {
      return seconds ? std::optional(*seconds * 1000) : std::nullopt;
    };
    SessionTimes{times(session->idle_seconds), times(session->lifetime_seconds)}.Apply(
        config.session);
  };
  return Serve({.face = {.info = {.name = std::string(kNixSandboxMcp), .version = kVersion},
                         .features = {.list_changes = false},
                         .instructions = tools::OriginalInstructions},
                .contracts =
                    [](tools::Workshop workshop) {
                      std::vector<std::unique_ptr<tools::Contract>> contracts;
                      contracts.push_back(std::make_unique<tools::OriginalContract>(workshop));
                      return contracts;
                    },
                .args = WithProjectOf(metadata, WithNamedProject({}, warn)),
                .brought = metadata.environments,
                .adapt = adapt,
                .level = level},
               console);
}

}  // namespace

int NixSandboxMcpMain(std::span<const std::string> words, Console& console) {
  const auto args = ParseArgs(kCommand, words);
  if (args && args->Has("--help")) {
    console.Out(
        "nix-sandbox-mcp - one MCP tool that runs code in sandboxes, served by igloo\n\n"
        "Usage: nix-sandbox-mcp [--stdio] [--log-level trace|debug|info|warn|error]\n\n"
        "Variables: NIX_SANDBOX_ENVS (flakes, with commas between them), NIX_SANDBOX_METADATA,\n"
        "NIX_SANDBOX_DIR, PROJECT_DIR, PROJECT_MOUNT, SESSION_IDLE_TIMEOUT, SESSION_MAX_LIFETIME,\n"
        "RUST_LOG; igloo's own configuration counts as well.\n");
    return 0;
  }
  if (args && args->Has("--version")) {
    console.Out(std::string("nix-sandbox-mcp ") + kVersion + " (igloo " IGLOO_VERSION ")\n");
    return 0;
  }
  const Result<int> code = args ? ServeOriginal(*args, console) : std::unexpected(args.error());
  if (code) return *code;
  console.Report(code.error());
  return args ? 1 : 2;
}

}  // namespace igloo::cli
