#include "cli/personalities/claudebox_options.h"

#include <fmt/format.h>

#include <variant>

namespace igloo::cli::claudebox {
namespace {

using Switch = bool Options::*;
using Text = std::optional<std::string> Options::*;
using Texts = std::vector<std::string> Options::*;

struct Row {
  std::string_view name, value, description;
  std::variant<Switch, Text, Texts> field;
};

constexpr Row kRows[] = {
    {"--yes", "", "start without the summary and the question (also -y)", &Options::yes},
    {"--dry-run", "", "print the bwrap command that stands for the box, and stop",
     &Options::dry_run},
    {"--check", "", "say what is missing on this machine, and stop", &Options::check},
    {"--shell", "", "bash instead of claude", &Options::shell},
    {"--cmd", "PROGRAM", "another program instead of claude", &Options::program},
    {"--gc", "", "remove the state of projects that are gone, and stop", &Options::gc},
    {"--with-ssh", "", "forward your SSH agent", &Options::with_ssh},
    {"--ssh-key", "FILE", "show this key in ~/.ssh; again for more", &Options::ssh_keys},
    {"--mount-home", "SUBDIR", "show this directory of your home, to write to; again for more",
     &Options::home},
    {"--path-add", "DIR", "put this directory in front of PATH; again for more", &Options::path},
    {"--network", "TIER", "none, inet (default: no private addresses) or full (the host's)",
     &Options::network},
    {"--reach", "PORT", "its own 127.0.0.1:PORT leads to yours; again for more", &Options::reach},
    {"--profile", "NAME", "with ~/.claudebox/profiles/NAME.json", &Options::profile},
    {"--list-profiles", "", "the names of the profiles", &Options::list_profiles},
    {"--show-profile", "NAME", "what a profile says", &Options::shown_profile},
    {"--help", "", "show this", &Options::help},
};

const Row* FindRow(std::string_view word) {
  for (const Row& row : kRows) {
    if (row.name == word || (word == "-y" && row.name == "--yes") ||
        (word == "-h" && row.name == "--help")) {
      return &row;
    }
  }
  return nullptr;
}

void Store(const Row& row, std::string value, Options& options) {
  if (const auto* field = std::get_if<Switch>(&row.field)) options.*(*field) = true;
  if (const auto* field = std::get_if<Text>(&row.field)) options.*(*field) = std::move(value);
  if (const auto* field = std::get_if<Texts>(&row.field)) {
    (options.*(*field)).push_back(std::move(value));
  }
}

}  // namespace

Result<Options> ParseOptions(std::span<const std::string> words) {
  Options options;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (words[i] == "--") {
      options.rest.insert(options.rest.end(), words.begin() + static_cast<std::ptrdiff_t>(i) + 1,
                          words.end());
      break;
    }
    const std::size_t equals = words[i].find('=');
    const Row* row = FindRow(words[i].substr(0, equals));
    const bool valued = row != nullptr && !row->value.empty();
    if (row == nullptr || (equals != std::string::npos && !valued)) {
      options.rest.push_back(words[i]);
      continue;
    }
    std::string value;
    if (valued && equals != std::string::npos) {
      value = words[i].substr(equals + 1);
    } else if (valued) {
      if (i + 1 == words.size()) {
        return Fail(Errc::kInvalidArgument, fmt::format("{} requires a value", row->name),
                    fmt::format("write {} {}", row->name, row->value));
      }
      value = words[++i];
    }
    Store(*row, std::move(value), options);
  }
  return options;
}

std::string Usage() {
  std::string text =
      "claudebox - Claude Code in a box around the directory where you are, by igloo\n\n"
      "Usage: claudebox [OPTIONS] [--] [CLAUDE'S OWN ARGUMENTS...]\n\nOptions:\n";
  for (const Row& row : kRows) {
    const std::string left =
        fmt::format("{}{}{}", row.name, row.value.empty() ? "" : " ", row.value);
    text += fmt::format("  {:<22} {}\n", left, row.description);
  }
  return text + "\nAll other options are claude's.\n";
}

}  // namespace igloo::cli::claudebox
