#include "agent/claude_sandbox/state_directory.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <utility>

#include "base/file.h"
#include "base/private_directory.h"
#include "base/replace_file.h"
#include "base/sha256.h"
#include "base/text.h"

namespace igloo::agent::claude_sandbox {
namespace {

constexpr std::size_t kKeyDigits = 12, kLongestName = 40, kMostPath = 8U << 10;
/// As bford.info/cachedir describes it.
constexpr std::string_view kCacheTag =
    "Signature: 8a477f597d28d172789f06886806bc55\n"
    "# What claude-sandbox keeps of one project; it can be removed while no sandbox runs.\n";
/// Where they lie in the state directory, and inside: below home or absolute.
constexpr std::array<std::pair<std::string_view, std::string_view>, 4> kTrees = {{
    {"/local/bin", ".local/bin"},
    {"/local/lib", ".local/lib"},
    {"/local/share", ".local/share"},
    {"/tmp", "/tmp"},
}};

/// Whose directory it is: `path` in it says so.
Result<void> CheckOwner(const StateDirectory& state, const std::string& project) {
  const std::string file = state.path + "/path";
  if (const auto text = ReadFile(file, kMostPath)) {
    if (*text == project + "\n" || *text == project) return {};
    const std::string said = text->substr(0, text->find('\n'));
    return Fail(Errc::kFailedPrecondition,
                "'" + state.path + "' belongs to another project: '" + Printable(said) + "'",
                "move that directory away");
  } else if (text.error().sys_errno != ENOENT) {
    return std::unexpected(text.error());
  }
  return ReplaceFile(file, project + "\n");
}

}  // namespace

std::string KeyOf(const std::string& project) {
  std::string name = project.substr(project.rfind('/') + 1).substr(0, kLongestName);
  const auto plain = [](unsigned char c) {
    return std::isalnum(c) != 0 || c == '.' || c == '_' || c == '-';
  };
  std::ranges::replace_if(name, [&](unsigned char c) { return !plain(c); }, '-');
  return name + "-" + Sha256Hex(project).substr(0, kKeyDigits);
}

StateDirectory FindStateDirectory(const std::string& state_home, const std::string& project) {
  const std::string key = KeyOf(project);
  return {.path = state_home + "/claude-code-nix-sandbox/projects/" + key, .key = key};
}

Result<StateDirectory> OpenStateDirectory(const std::string& state_home,
                                          const std::string& project) {
  StateDirectory state = FindStateDirectory(state_home, project);
  // SECURITY: what lies in it becomes a source of mounts, so nobody else may have put it there.
  IGLOO_TRY(OpenPrivateDirectory(state.path, OwnLevels::kTwo));
  IGLOO_TRY(CheckOwner(state, project));
  IGLOO_TRY(ReplaceFile(state.path + "/CACHEDIR.TAG", kCacheTag));
  for (const auto& [place, inside] : kTrees) {
    const std::string path = state.path + std::string(place);
    IGLOO_TRY(MakeMissingDirectories(path));
    struct stat info{};
    if (::lstat(path.c_str(), &info) == 0 && S_ISDIR(info.st_mode)) continue;
    return Fail(Errc::kFailedPrecondition, "'" + Printable(path) + "' is no directory",
                "move it away");
  }
  return state;
}

std::vector<OwnTree> TreesOf(const StateDirectory& state, const std::string& home) {
  std::vector<OwnTree> trees;
  for (const auto& [place, inside] : kTrees) {
    const bool absolute = inside.starts_with('/');
    trees.push_back({.source = state.path + std::string(place),
                     .target = absolute ? std::string(inside) : home + "/" + std::string(inside),
                     .reason = "this project's, kept for the next sandbox"});
  }
  return trees;
}

}  // namespace igloo::agent::claude_sandbox
