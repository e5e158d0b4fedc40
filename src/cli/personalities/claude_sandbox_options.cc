#include "cli/personalities/claude_sandbox_options.h"

#include <fmt/format.h>

#include <algorithm>
#include <variant>

#include "base/text.h"

namespace igloo::cli::claude_sandbox {
namespace {

constexpr std::string_view kName = "claude-sandbox";

constexpr Launcher kLaunchers[] = {
    {.link = kName},
    {.link = "claude-sandbox-container",
     .needs_root = "systemd-nspawn requires root. Run with sudo."},
    {.link = "claude-sandbox-vm"},
};

using Switch = bool Options::*;
using Texts = std::vector<std::string> Options::*;

struct Row {
  std::string_view name, value, description;
  std::variant<Switch, Texts> field;
};

constexpr Row kRows[] = {
    {"--shell", "", "bash instead of claude", &Options::shell},
    {"--gh-token", "", "pass GH_TOKEN, GITHUB_TOKEN or what 'gh auth token' prints",
     &Options::gh_token},
    {"--minimal", "", "without your git, gh and ssh settings, keys, display, sound, GPU and Nix",
     &Options::minimal},
    {"--no-network", "", "without a network", &Options::no_network},
    {"--reach", "PORT", "its own 127.0.0.1:PORT leads to yours; again for more", &Options::reach},
    {"--enter", "", "a shell in the sandbox of this project that runs", &Options::enter},
    {"--new", "", "another sandbox, although one of this project runs", &Options::another},
    {"--stop", "", "end the sandboxes of this project", &Options::stop},
    {"--tmux", "", "not available yet; start it in a tmux of yours", &Options::tmux},
    {"--dry-run", "", "print the plan and stop", &Options::dry_run},
    {"--help", "", "show this", &Options::help},
};

const Row* FindRow(std::string_view word) {
  const auto found = std::ranges::find(kRows, word == "-h" ? "--help" : word, &Row::name);
  return found == std::end(kRows) ? nullptr : found;
}

std::unexpected<Error> Unknown(const std::string& word) {
  return Fail(Errc::kInvalidArgument, "Unknown option: " + Printable(word));
}

/// Takes one option, and its value from the words behind it.
Result<void> Take(std::span<const std::string> words, std::size_t& at, Options& options) {
  const std::string& word = words[at];
  const std::size_t equals = word.find('=');
  const Row* row = FindRow(std::string_view(word).substr(0, equals));
  if (row == nullptr || (equals != std::string::npos && row->value.empty())) return Unknown(word);
  if (const auto* field = std::get_if<Switch>(&row->field)) {
    options.*(*field) = true;
    return {};
  }
  std::string value;
  if (equals != std::string::npos) {
    value = word.substr(equals + 1);
  } else if (at + 1 < words.size()) {
    value = words[++at];
  }
  if (value.empty()) {
    return Fail(Errc::kInvalidArgument, fmt::format("{} requires a value", row->name));
  }
  (options.*std::get<Texts>(row->field)).push_back(std::move(value));
  return {};
}

}  // namespace

std::span<const Launcher> Launchers() { return kLaunchers; }

const Launcher* FindLauncher(std::string_view link) {
  const auto found = std::ranges::find(kLaunchers, link, &Launcher::link);
  return found == std::end(kLaunchers) ? nullptr : found;
}

std::string BackendWord(const Launcher& launcher) {
  // The first of them was a bwrap command, and scripts ask for that word.
  if (launcher.link == kName) return std::string(wall::FindShownAs("bwrap")->name);
  return std::string(launcher.link.substr(kName.size() + 1));
}

Result<const wall::Wall*> WallOf(const Launcher& launcher, bool root,
                                 std::span<const wall::Wall> walls) {
  const wall::Wall* found = wall::FindByLauncher(launcher.link, walls);
  // A box has a network, and a machine with a kernel of its own has none yet.
  const bool lacks = found != nullptr && found->can.own_kernel && !found->can.listeners;
  if (found == nullptr || !found->served || lacks) {
    return Fail(Errc::kFailedPrecondition,
                fmt::format("{} needs {}, and this igloo cannot make one yet", launcher.link,
                            found == nullptr ? "a wall that it does not know" : found->description),
                fmt::format("'{}' makes a sandbox without it, or use a newer igloo", kName));
  }
  if (!launcher.needs_root.empty() && !root) {
    return Fail(Errc::kPermissionDenied, std::string(launcher.needs_root));
  }
  return found;
}

Result<Options> ParseOptions(std::span<const std::string> words) {
  Options options;
  std::size_t at = 0;
  for (; at < words.size() && words[at].starts_with('-') && words[at] != "--"; ++at) {
    IGLOO_TRY(Take(words, at, options));
  }
  if (at < words.size() && words[at] != "--") options.project = words[at++];
  // Directly behind the directory '--' is no word of the agent's.
  if (at < words.size() && words[at] == "--") ++at;
  const auto rest = words.subspan(at);
  options.rest.assign(rest.begin(), rest.end());
  return options;
}

std::string Usage(const Launcher& launcher) {
  std::string text = fmt::format(
      "Usage: {} [--shell] [--gh-token] [OPTIONS] [PROJECT-DIR] [[--] CLAUDE'S ARGUMENTS...]\n\n"
      "Claude Code in a sandbox around a project (default: where you are), by igloo.\n\nOptions:\n",
      launcher.link);
  for (const Row& row : kRows) {
    const std::string left =
        fmt::format("{}{}{}", row.name, row.value.empty() ? "" : " ", row.value);
    text += fmt::format("  {:<16} {}\n", left, row.description);
  }
  return text +
         "\nA second start in a project joins the sandbox that runs there. All that stands behind "
         "the\nproject's directory is for claude.\n";
}

}  // namespace igloo::cli::claude_sandbox
