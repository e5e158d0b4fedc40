#include "cli/personalities/claudebox_check.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>
#include <string>

#include "agent/state/projects.h"
#include "base/spawn.h"
#include "cli/personalities/claudebox_files.h"
#include "service/caller.h"

namespace igloo::cli::claudebox {
namespace {

constexpr int kExitFailed = 1;

struct Check {
  std::string name;
  bool fine;
  bool needed;
  std::string hint;
};

Check Program(const char* name, bool needed, const char* hint) {
  return {name, !FindInPath(name).empty(), needed, hint};
}

Check File(const char* name, const std::string& path, const char* hint) {
  return {name, ::access(path.c_str(), F_OK) == 0, false, hint};
}

/// The project's own file lies in its root, which may be above or elsewhere.
std::string ProjectFile() {
  const auto root = agent::FindProjectRoot(".");
  return root ? root->path + "/.claudebox" : std::string();
}

}  // namespace

int RunChecks(Console& console) {
  const Check checks[] = {
      Program("bwrap", false, "not needed: igloo makes the sandbox itself"),
      Program("claude", true, "npm install -g @anthropic-ai/claude-code"),
      Program("git", true, "install git"),
      Program("curl", true, "install curl"),
      Program("nix", false, "without it the sandbox has this machine's programs"),
      File("~/.claudebox", OwnPlace(), "will be created on first run"),
      File("~/.claudebox/config", SettingsPath(), "optional"),
      File(".claudebox of this project", ProjectFile(), "optional"),
      {"ANTHROPIC_API_KEY", !service::CallersVariable("ANTHROPIC_API_KEY").value_or("").empty(),
       false, "not set: Claude Code uses its sign-in"},
  };
  const bool colours = ::isatty(STDERR_FILENO) == 1 && std::getenv("NO_COLOR") == nullptr;
  bool all = true;
  for (const Check& each : checks) {
    const char* word = each.fine ? "OK" : each.needed ? "FAIL" : "WARN";
    const char* colour = each.fine ? "32" : each.needed ? "31" : "33";
    const std::string shown =
        colours ? fmt::format("\x1b[{}m{:<4}\x1b[0m", colour, word) : fmt::format("{:<4}", word);
    console.Err(
        fmt::format("{} {}{}\n", shown, each.name, each.fine ? "" : " (" + each.hint + ")"));
    all = all && (each.fine || !each.needed);
  }
  console.Err(all ? "All checks passed.\n" : "Some checks failed.\n");
  return all ? 0 : kExitFailed;
}

}  // namespace igloo::cli::claudebox
