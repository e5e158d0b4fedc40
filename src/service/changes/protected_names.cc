#include "service/changes/protected_names.h"

#include <array>

#include "base/text.h"
#include "service/changes/node.h"

namespace igloo::service::changes {
namespace {

constexpr std::string_view kShell = "a shell runs it when it starts";
constexpr std::string_view kAgent = "an agent takes rights, hooks and programs from it";
constexpr std::string_view kEditor = "an editor runs tasks and programs that it names";
constexpr std::string_view kHooks = "git's hooks run it, where they are installed";

/// Of a project's own repository. Longer names first.
constexpr std::array kInGit = {
    ProtectedName{".git/hooks", "git runs the programs in it"},
    ProtectedName{".git/config.worktree", "git runs programs that it names"},
    ProtectedName{".git/config", "git runs programs that it names"},
    ProtectedName{".git/info", "git goes by the rules in it"},
};

constexpr std::array kAnywhere = {
    ProtectedName{".gitmodules", "git fetches from the places that it names"},
    ProtectedName{".hg/hgrc", "Mercurial runs hooks and extensions that it names"},
    ProtectedName{".envrc", "direnv runs it when somebody enters the directory"},
    ProtectedName{".bashrc", kShell},
    ProtectedName{".bash_profile", kShell},
    ProtectedName{".bash_login", kShell},
    ProtectedName{".bash_logout", kShell},
    ProtectedName{".profile", kShell},
    ProtectedName{".zshrc", kShell},
    ProtectedName{".zshenv", kShell},
    ProtectedName{".zprofile", kShell},
    ProtectedName{".zlogin", kShell},
    ProtectedName{".claude", kAgent},
    ProtectedName{".codex", kAgent},
    ProtectedName{".gemini", kAgent},
    ProtectedName{".opencode", kAgent},
    ProtectedName{".agents", kAgent},
    ProtectedName{"opencode.json", kAgent},
    ProtectedName{"opencode.jsonc", kAgent},
    ProtectedName{".aider.conf.yml", kAgent},
    ProtectedName{".cursor", kAgent},
    ProtectedName{".mcp.json", "agents start the servers that it names"},
    ProtectedName{".vscode", kEditor},
    ProtectedName{".idea", kEditor},
    ProtectedName{".devcontainer", kEditor},
    ProtectedName{".zed", kEditor},
    ProtectedName{".husky", kHooks},
    ProtectedName{".pre-commit-config.yaml", kHooks},
    ProtectedName{"lefthook.yml", kHooks},
    ProtectedName{".lefthook.yml", kHooks},
};

constexpr std::string_view kRepository =
    "a repository brings hooks and a configuration, and git runs programs that these name";

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
    for (const ProtectedName& each : kAnywhere) {
      if (StandsAt(lower, at, each.name)) {
        return {std::string(path.substr(0, at + each.name.size())), each.reason};
      }
    }
    if (StandsAt(lower, at, ".git")) {
      return {std::string(path.substr(0, at + std::string_view(".git").size())), kRepository};
    }
    const std::size_t slash = lower.find('/', at);
    at = slash == std::string::npos ? slash : slash + 1;
  }
  return {};
}

bool IsGitsOwn(std::string_view path) { return LiesIn(path, ".git") && !ProtectionOf(path, true); }

}  // namespace igloo::service::changes
