#include "service/changes/protected_names.h"

#include <array>
#include <filesystem>

#include "base/text.h"
#include "service/changes/node.h"

namespace igloo::service::changes {
namespace {

constexpr std::string_view kShell = "a shell runs it when it starts";
constexpr std::string_view kAgent = "an agent takes rights, hooks and programs from it";
constexpr std::string_view kEditor = "an editor runs tasks and programs that it names";
constexpr std::string_view kEditorCode = "an editor runs it when it opens a file here";
constexpr std::string_view kHooks = "git's hooks run it, where they are installed";
constexpr std::string_view kDebugger = "a debugger runs it when it starts here";
constexpr std::string_view kInterpreter = "an interpreter runs it when it starts here";
constexpr std::string_view kEntering = "it runs when somebody enters the directory";
constexpr std::string_view kMise = "mise runs it when somebody enters the directory";
constexpr std::string_view kPackages = "a package manager runs programs that it names";
constexpr std::string_view kMercurial = "Mercurial runs hooks and extensions that it names";

/// Of a project's own repository. Longer names first.
constexpr std::array kInGit = {
    ProtectedName{".git/hooks", "git runs the programs in it"},
    ProtectedName{".git/config.worktree", "git runs programs that it names"},
    ProtectedName{".git/config", "git runs programs that it names"},
    ProtectedName{".git/info", "git goes by the rules in it"},
};

constexpr auto kAnywhere = std::to_array<ProtectedName>({
    // Version control.
    {".gitmodules", "git fetches from the places that it names"},
    {".hg/hgrc", kMercurial},
    {".jj/repo/config.toml", "jj runs programs that it names"},
    // Hooks of git.
    {".husky", kHooks},
    {".githooks", kHooks},
    {".pre-commit-config.yaml", kHooks},
    {".pre-commit-config.yml", kHooks},
    {"lefthook.yml", kHooks},
    {".lefthook.yml", kHooks},
    {"lefthook.yaml", kHooks},
    {".lefthook.yaml", kHooks},
    {"lefthook.toml", kHooks},
    {".lefthook.toml", kHooks},
    {"lefthook.json", kHooks},
    {".lefthook.json", kHooks},
    {"lefthook-local.yml", kHooks},
    {".lefthook-local.yml", kHooks},
    {".overcommit.yml", kHooks},
    // Entering a directory.
    {".envrc", "direnv runs it when somebody enters the directory"},
    {".autoenv.zsh", kEntering},
    {".shadowenv.d", kEntering},
    {"mise.toml", kMise},
    {".mise.toml", kMise},
    {"mise.local.toml", kMise},
    {".mise.local.toml", kMise},
    {".mise", kMise},
    {".config/mise", kMise},
    {".config/mise.toml", kMise},
    {".rtx.toml", kMise},
    // Shells.
    {".bashrc", kShell},
    {".bash_profile", kShell},
    {".bash_login", kShell},
    {".bash_logout", kShell},
    {".bash_aliases", kShell},
    {".profile", kShell},
    {".zshrc", kShell},
    {".zshenv", kShell},
    {".zprofile", kShell},
    {".zlogin", kShell},
    {".zlogout", kShell},
    {".kshrc", kShell},
    {".cshrc", kShell},
    {".tcshrc", kShell},
    {".login", kShell},
    {".logout", kShell},
    {".inputrc", kShell},
    {".config/fish", kShell},
    // Agents.
    {".claude", kAgent},
    {".claude.json", kAgent},
    {".codex", kAgent},
    {".gemini", kAgent},
    {".opencode", kAgent},
    {"opencode.json", kAgent},
    {"opencode.jsonc", kAgent},
    {".opencode.json", kAgent},
    {".agents", kAgent},
    {".aider.conf.yml", kAgent},
    {".amazonq", kAgent},
    {".augment", kAgent},
    {".cline", kAgent},
    {".continue", kAgent},
    {".crush", kAgent},
    {"crush.json", kAgent},
    {".crush.json", kAgent},
    {".cursor", kAgent},
    {".factory", kAgent},
    {".goose", kAgent},
    {".junie", kAgent},
    {".kilocode", kAgent},
    {".kiro", kAgent},
    {".qwen", kAgent},
    {".roo", kAgent},
    {".trae", kAgent},
    {".windsurf", kAgent},
    {".mcp.json", "agents start the servers that it names"},
    // Editors.
    {".vscode", kEditor},
    {".idea", kEditor},
    {".fleet", kEditor},
    {".vs", kEditor},
    {".zed", kEditor},
    {".helix", kEditor},
    {".devcontainer", kEditor},
    {".devcontainer.json", kEditor},
    {".exrc", kEditorCode},
    {".vimrc", kEditorCode},
    {".gvimrc", kEditorCode},
    {".lvimrc", kEditorCode},
    {".local.vimrc", kEditorCode},
    {".nvimrc", kEditorCode},
    {".nvim.lua", kEditorCode},
    {".dir-locals.el", kEditorCode},
    {".dir-locals-2.el", kEditorCode},
    // Debuggers and interpreters.
    {".gdbinit", kDebugger},
    {".gdbearlyinit", kDebugger},
    {".lldbinit", kDebugger},
    {".pdbrc", kDebugger},
    {".ghci", kInterpreter},
    {".iex.exs", kInterpreter},
    {".irbrc", kInterpreter},
    {".ocamlinit", kInterpreter},
    {".pryrc", kInterpreter},
    {".rprofile", kInterpreter},
    {".renviron", kInterpreter},
    // Package managers, which editors start.
    {".cargo/config.toml", kPackages},
    {".cargo/config", kPackages},
    {".npmrc", kPackages},
    {".yarnrc", kPackages},
    {".yarnrc.yml", kPackages},
    {".pnpmfile.cjs", kPackages},
});

/// Ends of names.
constexpr auto kEndings = std::to_array<ProtectedName>({
    {".code-workspace", kEditor},
    {".sublime-project", kEditor},
});

/// With which letters the last parts of those names begin. Most names of a project begin with
/// another one, and a look at a whole project asks about each.
constexpr auto kLetters = [] {
  std::array<bool, 256> letters{};
  for (const ProtectedName& each : kAnywhere) {
    const std::string_view part = each.name.substr(each.name.rfind('/') + 1);
    letters[static_cast<unsigned char>(part.front())] = true;
  }
  return letters;
}();

/// Of a part of a path. Empty: it has no such end.
std::string_view ReasonOfEnding(std::string_view part) {
  for (const ProtectedName& each : kEndings) {
    if (part.ends_with(each.name)) return each.reason;
  }
  return {};
}

/// Whether `name` stands at `at` in `path` as whole parts of it.
bool StandsAt(std::string_view path, std::size_t at, std::string_view name) {
  const std::string_view rest = path.substr(at);
  return rest.starts_with(name) && (rest.size() == name.size() || rest[name.size()] == '/');
}

}  // namespace

Protection ProtectionOf(std::string_view path, bool own_git) {
  const std::string lower = AsciiLower(path);
  if (own_git && StandsAt(path, 0, ".git")) {
    for (const ProtectedName& each : kInGit) {
      if (StandsAt(lower, 0, each.name)) {
        return {std::string(path.substr(0, each.name.size())), each.reason};
      }
    }
    return {};
  }
  for (std::size_t at = 0; at != std::string::npos && at < lower.size();) {
    const std::size_t slash = lower.find('/', at);
    for (const ProtectedName& each : kAnywhere) {
      if (StandsAt(lower, at, each.name)) {
        return {std::string(path.substr(0, at + each.name.size())), each.reason};
      }
    }
    const std::string_view ending = ReasonOfEnding(std::string_view(lower).substr(at, slash - at));
    if (!ending.empty()) return {std::string(path.substr(0, slash)), ending};
    if (StandsAt(lower, at, ".git")) {
      return {std::string(path.substr(0, at + std::string_view(".git").size())), kRepositoryReason};
    }
    at = slash == std::string::npos ? slash : slash + 1;
  }
  return {};
}

std::string_view ReasonOfLastPart(std::string_view path) {
  const std::string_view part = NameIn(path);
  const std::string lower_part = AsciiLower(part);
  if (part.empty()) return {};
  if (!kLetters[static_cast<unsigned char>(lower_part.front())]) return ReasonOfEnding(lower_part);
  const std::string lower = AsciiLower(path);
  for (const ProtectedName& each : kAnywhere) {
    if (!lower.ends_with(each.name)) continue;
    const std::size_t begin = lower.size() - each.name.size();
    if (begin == 0 || lower[begin - 1] == '/') return each.reason;
  }
  return ReasonOfEnding(lower_part);
}

Protection ProtectionOfLink(std::string_view path, const std::string& target) {
  constexpr std::string_view kLeads = "it is a link to what programs of yours obey";
  const std::filesystem::path to = std::filesystem::path(ParentOf(path)) / target;
  const std::string plain = to.lexically_normal();
  const bool gits = StandsAt(AsciiLower(plain), 0, ".git");
  if (gits || ProtectionOf(plain, false)) return {std::string(path), kLeads};
  const std::string lower = "/" + AsciiLower(path);
  for (const ProtectedName& each : kAnywhere) {
    std::string_view above = each.name;
    for (std::size_t end; (end = above.rfind('/')) != std::string_view::npos;) {
      above = above.substr(0, end);
      if (lower.ends_with("/" + std::string(above))) return {std::string(path), each.reason};
    }
  }
  return {};
}

bool IsGitsOwn(std::string_view path) { return LiesIn(path, ".git") && !ProtectionOf(path, true); }

}  // namespace igloo::service::changes
