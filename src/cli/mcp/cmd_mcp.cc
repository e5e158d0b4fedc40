#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>

#include "base/text.h"
#include "cli/commands.h"
#include "cli/config/settings.h"
#include "cli/console.h"
#include "cli/mcp/check_mcp.h"
#include "cli/mcp/mcp_output.h"
#include "cli/mcp/serve_mcp.h"
#include "clients/apply.h"
#include "config/toml.h"
#include "service/places.h"
#include "service/programs.h"

namespace igloo::cli {
namespace {

/// The clients' names with blanks between, for completion, the help and the manual, from the one
/// table.
consteval std::size_t NamesSize() {
  std::size_t size = 0;
  for (const clients::Client& client : clients::kClients) size += client.name.size() + 1;
  return size - 1;
}
consteval std::array<char, NamesSize()> JoinNames() {
  std::array<char, NamesSize()> out{};
  std::size_t at = 0;
  for (const clients::Client& client : clients::kClients) {
    if (at > 0) out[at++] = ' ';
    for (const char c : client.name) out[at++] = c;
  }
  return out;
}
constexpr auto kNamesText = JoinNames();
constexpr std::string_view kNames(kNamesText.data(), kNamesText.size());

std::string Variable(std::string_view name) {
  const char* value = std::getenv(std::string(name).c_str());
  return value != nullptr ? value : "";
}

/// igloo as it can be written into a client's file, where it stands for years.
Result<std::string> OwnPath() {
  IGLOO_ASSIGN(std::string path, service::FindCalledIgloo());
  if (IsUtf8(path)) return path;
  return Fail(Errc::kFailedPrecondition, "igloo's own path is not UTF-8",
              "clients cannot write it down: install igloo elsewhere");
}

Result<std::string> Absolute(const std::string& path) {
  std::error_code failure;
  const auto absolute = std::filesystem::absolute(path, failure);
  if (failure) return FailSys(failure.value(), "cannot find where '" + path + "' is");
  return absolute.lexically_normal().string();
}

Result<std::string> ServerName(const ParsedArgs& args) {
  std::string name = args.Get("--name").value_or("igloo");
  const bool fine = !name.empty() && name.size() <= 64 && std::ranges::all_of(name, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '_';
  });
  if (fine) return name;
  return Fail(Errc::kInvalidArgument, "'" + Printable(name) + "' cannot be a server's name",
              "use up to 64 letters, digits, '-' and '_'");
}

/// Without its project the server runs nothing, and says so to models alone.
void WarnOfProject(const std::string& path, Console& console) {
  const std::string directory = path.substr(0, path.rfind(':'));
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored) ||
      std::filesystem::is_directory(directory, ignored)) {
    return;
  }
  console.Note(fmt::format("warning: there is no directory '{}'; the server needs it",
                           Printable(directory)));
}

Result<clients::Server> MakeServer(const ParsedArgs& args, bool config_must_exist,
                                   Console& console) {
  clients::Server server{.args = {"mcp"}};
  IGLOO_ASSIGN(server.name, ServerName(args));
  IGLOO_ASSIGN(server.command, OwnPath());
  for (const std::string_view flag : {"--http", "--no-token", "--token-file"}) {
    if (!args.Has(flag)) continue;
    return Fail(Errc::kInvalidArgument,
                fmt::format("{} is for the server, which clients start without it", flag),
                "a client that is to use HTTP gets the server's address instead");
  }
  IGLOO_ASSIGN(const std::optional<config::Tools> tools, ToolsFlag(args));
  if (tools) {
    server.args.insert(server.args.end(), {"--tools", std::string(config::Name(*tools))});
  }
  if (const auto project = args.Get("--project")) {
    // The client starts igloo from wherever it likes.
    IGLOO_ASSIGN(const std::string path, Absolute(*project));
    WarnOfProject(path, console);
    server.args.insert(server.args.end(), {"--project", path});
  }
  if (args.Has("--no-project")) server.args.emplace_back("--no-project");
  // Clients speak to what they start on its standard input, whatever a server by hand does.
  if (ReadDaemon(args).transport == "http") server.args.emplace_back("--stdio");
  const auto config = args.Get("--config");
  if (!config) return server;
  IGLOO_ASSIGN(const std::string path, Absolute(*config));
  if (config_must_exist && ::access(path.c_str(), R_OK) != 0) {
    const int saved_errno = errno;
    return FailSys(saved_errno, "cannot read the configuration '" + path + "'",
                   "the server would not start with it");
  }
  if (ToUtf8(path) != path) {
    return Fail(Errc::kInvalidArgument, "the configuration's path is not UTF-8", "rename it");
  }
  server.args.insert(server.args.end(), {"--config", path});
  return server;
}

Result<clients::Scope> ScopeOf(const ParsedArgs& args) {
  const std::string scope = args.Get("--scope").value_or("user");
  if (scope == "user") return clients::Scope::kUser;
  if (scope == "project") return clients::Scope::kProject;
  return Fail(Errc::kInvalidArgument, "there is no scope '" + Printable(scope) + "'",
              "write --scope user or --scope project");
}

Result<std::string> ClientFileOf(const ParsedArgs& args, const clients::Client& client,
                                 clients::Scope scope) {
  if (const auto file = args.Get("--file")) {
    if (args.Has("--scope")) {
      return Fail(Errc::kInvalidArgument, "--file and --scope both say where", "leave one out");
    }
    if (file->empty()) return Fail(Errc::kInvalidArgument, "--file needs a name");
    return Absolute(*file);
  }
  std::string project;
  if (scope == clients::Scope::kProject) {
    IGLOO_ASSIGN(project, Absolute("."));
    while (project.size() > 1 && project.ends_with('/')) project.pop_back();
  }
  IGLOO_ASSIGN(std::string file, clients::FileOf(client, scope, Variable, project));
  if (scope == clients::Scope::kProject) IGLOO_TRY(clients::RefuseLinksBelow(project, file));
  return file;
}

Result<const clients::Client*> ClientOf(const ParsedArgs& args) {
  if (args.words.size() != 2) {
    return Fail(Errc::kInvalidArgument,
                fmt::format("'igloo mcp {}' needs one client", args.words[0]),
                fmt::format("the clients are {}", kNames));
  }
  return clients::FindClient(args.words[1]);
}

/// TOML's own parser has the last word; the editor's scanner of JSON is complete itself.
clients::Check CheckFor(const clients::Client& client) {
  if (client.format != clients::Format::kToml) {
    return [](const std::string&, std::string_view) { return Result<void>(); };
  }
  return [](const std::string& file, std::string_view text) -> Result<void> {
    const auto parsed = config::ParseToml(text);
    if (parsed) return {};
    return std::unexpected(config::ToError(file, parsed.error()));
  };
}

Result<int> RunInstall(const ParsedArgs& args, Console& console) {
  clients::Order order;
  IGLOO_ASSIGN(order.client, ClientOf(args));
  const bool remove = args.Has("--remove");
  order.action = remove ? clients::Action::kRemove : clients::Action::kInstall;
  IGLOO_ASSIGN(order.server, MakeServer(args, !remove, console));
  IGLOO_ASSIGN(order.scope, ScopeOf(args));
  IGLOO_ASSIGN(order.file, ClientFileOf(args, *order.client, order.scope));
  order.foreign = args.Has("--force") ? clients::Foreign::kReplace : clients::Foreign::kKeep;
  order.dry_run = args.Has("--dry-run");
  const std::string state = config::StateDirectory(service::ReadVariables());
  const clients::UndoStore store(state.empty() ? "" : state + "/clients");
  IGLOO_ASSIGN(const clients::Done done, clients::Apply(order, store, CheckFor(*order.client)));
  if (done.edit.change == clients::Change::kForeign) {
    if (!args.Has("--json")) {
      console.Err(Printable(done.edit.block, Newlines::kKeep) +
                  (done.edit.block.ends_with('\n') ? "" : "\n"));
    }
    return Fail(
        Errc::kFailedPrecondition,
        fmt::format("'{}' has a server '{}' that is not igloo's; nothing was changed", order.file,
                    order.server.name),
        remove ? "--force removes it" : "choose another --name, or replace it with --force");
  }
  console.Out(args.Has("--json") ? DoneJson(order, done) : DoneText(order, done));
  return 0;
}

Result<int> RunPrint(const ParsedArgs& args, Console& console) {
  constexpr std::string_view kOfInstall[] = {"--remove", "--force", "--dry-run"};
  IGLOO_TRY(RefuseFlags(args, kOfInstall, "'igloo mcp print-config'", "it changes nothing"));
  IGLOO_ASSIGN(const clients::Client* client, ClientOf(args));
  IGLOO_ASSIGN(const clients::Server server, MakeServer(args, false, console));
  IGLOO_ASSIGN(const clients::Scope scope, ScopeOf(args));
  // Where it belongs is a note: without a home there is still something to print.
  const auto file = ClientFileOf(args, *client, scope);
  if (!file && scope == clients::Scope::kProject) return std::unexpected(file.error());
  const std::string text = clients::WholeFile(*client, server);
  if (args.Has("--json")) {
    console.Out(PrintedJson(*client, file.value_or(""), text));
    return 0;
  }
  if (file) console.Note(fmt::format("for {}, in {}", client->title, Printable(*file)));
  console.Out(text);
  return 0;
}

Result<int> RunCheck(const ParsedArgs& args, Console& console) {
  constexpr std::string_view kOfOthers[] = {"--http",  "--token-file", "--no-token", "--stdio",
                                            "--name",  "--scope",      "--file",     "--remove",
                                            "--force", "--dry-run"};
  IGLOO_TRY(RefuseFlags(args, kOfOthers, "'igloo mcp check'",
                        "it takes --config, --project, --no-project, --tools and --json"));
  IGLOO_TRY(ToolsFlag(args));
  return CheckMcp(args, console);
}

Result<int> RunMcp(const ParsedArgs& args, Console& console) {
  if (args.words.empty()) return ServeMcp(args, console);
  IGLOO_ASSIGN(const std::string_view verb, TakeWord(kMcpCommand, args));
  if (verb == "check") return RunCheck(args, console);
  return verb == "install" ? RunInstall(args, console) : RunPrint(args, console);
}

constexpr Flag kFlags[] = {
    {"--config", "FILE", "igloo's own configuration, for the server", Values::kFile},
    {"--project", "DIR[:MODE]", "server: show DIR at /project; MODE is ro (default) or overlay",
     Values::kDirectory},
    {"--no-project", "", "server: show no project, also when the configuration names one"},
    {"--tools", "WHICH", "server: run (default), per-environment, or both; beats daemon.tools",
     Values::kChoices, "run per-environment both"},
    {"--http", "ADDRESS", "server: listen on 127.0.0.1:8730, say; beats daemon.transport"},
    {"--token-file", "FILE", "server: the tokens of HTTP clients, one a line: TOKEN or LABEL TOKEN",
     Values::kFile},
    {"--no-token", "", "server: ask HTTP clients for no token; on this machine only"},
    {"--stdio", "", "server: standard input and output; beats daemon.transport (stdio)"},
    {"--name", "NAME", "what the client calls the server; 'igloo' by default"},
    {"--scope", "SCOPE", "user (default), or project: the current directory", Values::kChoices,
     "user project"},
    {"--file", "FILE", "the client's file, when it is not in its usual place", Values::kFile},
    {"--remove", "", "with install: take it out again"},
    {"--force", "", "with install: also a server of that name that is not igloo's"},
    {"--dry-run", "", "with install: show what would change"},
    {"--json", "", "print one JSON document"},
};

constexpr Word kWords[] = {
    {"install", "write igloo into a client's configuration", Values::kChoices, kNames},
    {"print-config", "print what belongs there", Values::kChoices, kNames},
    {"check", "start the server as clients do, and run something in it"},
};

}  // namespace

const Command kMcpCommand = {
    .name = "mcp",
    .summary = "serve models that run code, and set up their clients",
    .usage = "[(install | print-config) CLIENT | check] [OPTIONS]",
    .flags = kFlags,
    .words = kWords,
    .details =
        "Without a word: the server. Clients start it themselves and speak to it on its standard\n"
        "input and output; it ends with them. It reads its configuration again when that changes\n"
        "and at SIGHUP. Models call its tool 'run': a fresh sandbox for each call, or a session, "
        "in\n"
        "which files last from call to call, and variables of Python, Node and the shell too.\n"
        "CLIENT is claude-code, claude-desktop, codex, gemini, opencode, cursor or vscode.\n"
        "install changes one block and no other byte of the client's file, keeps a backup beside\n"
        "it, and changes nothing the second time; --remove takes back exactly what it did.\n"
        "check prints a line for each step with its time; exit code 0: the server works, 1: "
        "not.\n\n"
        "Examples:\n"
        "  igloo mcp install claude-code\n"
        "  igloo mcp install codex --dry-run\n"
        "  igloo mcp install vscode --scope project\n"
        "  igloo mcp install cursor --remove\n"
        "  igloo mcp print-config gemini\n"
        "  igloo mcp check\n",
    .run = RunMcp,
};

}  // namespace igloo::cli
