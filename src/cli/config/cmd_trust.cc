#include <fmt/format.h>

#include <filesystem>

#include "agent/claudebox/project_files.h"
#include "base/text.h"
#include "cli/commands.h"
#include "cli/config/config_output.h"
#include "cli/config/settings.h"
#include "cli/console.h"
#include "config/trust.h"
#include "service/flakes.h"
#include "service/places.h"

namespace igloo::cli {
namespace {

/// Of an entry for a flake: its project. Empty: the entry is a project's own.
std::string ProjectOfFlake(const std::string& entry) {
  constexpr std::string_view kFile = "/flake.nix";
  std::error_code ignored;
  if (!entry.ends_with(kFile) || std::filesystem::is_directory(entry, ignored)) return {};
  return entry.substr(0, entry.size() - kFile.size());
}

Result<int> AddFlake(const std::string& directory, config::TrustStore& store, Console& console) {
  IGLOO_ASSIGN(const service::ProjectFlake flake, service::ReadProjectFlake(directory, store));
  if (flake.trust == config::Trust::kNoFile) {
    return Fail(Errc::kNotFound, "the project '" + flake.directory + "' has no flake.nix",
                "without one there is nothing to trust");
  }
  IGLOO_TRY(store.Add({.directory = flake.entry, .digest = flake.digest}));
  console.Out(
      fmt::format("trusted as it is now: {}, {} files in all\n"
                  "  Nix evaluates and builds it where 'use_flake' asks for it\n",
                  Printable(flake.entry), flake.files.size()));
  return 0;
}

Result<int> List(config::TrustStore& store, Console& console) {
  IGLOO_ASSIGN(const auto all, store.List());
  for (const config::Trusted& each : all) {
    if (const std::string project = ProjectOfFlake(each.directory); !project.empty()) {
      const auto flake = service::ReadProjectFlake(project, store);
      const bool same = flake && flake->trust == config::Trust::kTrusted;
      console.Out(Printable(each.directory) + (same ? "\n" : "  (changed: not trusted)\n"));
      continue;
    }
    // One that cannot be read any more is not trusted in effect; the list still names it.
    const auto file = config::ReadProjectFile(each.directory, store);
    const bool same = file && file->trust == config::Trust::kTrusted;
    console.Out(Printable(each.directory) + (same ? "\n" : "  (changed: not trusted)\n"));
  }
  return 0;
}

Result<int> Remove(const std::string& directory, config::TrustStore& store, Console& console) {
  // A directory that is gone can still be forgotten, by the name it had.
  std::error_code ignored;
  const std::string name = std::filesystem::weakly_canonical(directory, ignored).string();
  IGLOO_ASSIGN(const bool removed, store.Remove(name));
  IGLOO_ASSIGN(const bool flake_removed, store.Remove(name + "/flake.nix"));
  IGLOO_ASSIGN(const bool claudebox_removed, store.Remove(name + "/.claudebox"));
  if (!removed && !flake_removed && !claudebox_removed) {
    return Fail(Errc::kNotFound, "'" + name + "' was not trusted",
                "igloo trust --list shows what is");
  }
  console.Out("no longer trusted: " + Printable(name) + "\n");
  return 0;
}

/// Whether there was something to trust.
Result<bool> AddClaudebox(const std::string& directory, config::TrustStore& store,
                          Console& console) {
  IGLOO_ASSIGN(const auto files, agent::claudebox::ReadProjectFiles(directory, store));
  if (files.trust == config::Trust::kNoFile) return false;
  IGLOO_TRY(store.Add({.directory = files.entry, .digest = files.digest}));
  console.Out(fmt::format("trusted as it is now: {} with .claudebox.env, for claudebox\n",
                          Printable(files.settings_path)));
  return true;
}

Result<int> Add(const std::string& directory, config::TrustStore& store, Console& console) {
  IGLOO_ASSIGN(const bool claudebox, AddClaudebox(directory, store, console));
  IGLOO_ASSIGN(const config::ProjectFile file, config::ReadProjectFile(directory, store));
  if (file.trust == config::Trust::kNoFile) {
    if (claudebox) return 0;
    return Fail(Errc::kNotFound, "the project '" + file.directory + "' has no igloo.toml",
                "without one there is nothing to trust");
  }
  const config::Decoded decoded = config::DecodeProjectFile(file, service::PresetNames());
  if (!decoded.problems.empty()) {
    console.Err(ProblemsText(decoded));
    return Fail(Errc::kInvalidArgument, "'" + file.path + "' is not trusted: it has mistakes");
  }
  IGLOO_TRY(store.Add({.directory = file.directory, .digest = file.digest}));
  std::string names;
  for (const auto& each : decoded.config.environments) {
    names += fmt::format("{}{}", names.empty() ? "" : ", ", each.first);
  }
  console.Out(fmt::format("trusted as it is now: {}\n  environments: {}\n", Printable(file.path),
                          names.empty() ? "none" : names));
  return 0;
}

Result<int> RunTrust(const ParsedArgs& args, Console& console) {
  const std::string state = config::StateDirectory(service::ReadVariables());
  if (state.empty()) {
    return Fail(Errc::kFailedPrecondition, "there is no place for what is trusted",
                "set HOME or XDG_STATE_HOME");
  }
  config::TrustDirectory store(state + "/trust");
  const bool list = args.Has("--list");
  const bool remove = args.Has("--remove");
  if (list && !remove && args.words.empty()) return List(store, console);
  if (list || args.words.size() != 1) {
    return Fail(Errc::kInvalidArgument, "the command is not complete",
                "write igloo trust DIR, igloo trust DIR --remove, or igloo trust --list");
  }
  if (remove) return Remove(args.words[0], store, console);
  return args.Has("--flake") ? AddFlake(args.words[0], store, console)
                             : Add(args.words[0], store, console);
}

constexpr Flag kFlags[] = {
    {"--flake", "", "trust its flake, for 'use_flake', and not igloo.toml"},
    {"--remove", "", "trust the project no longer, its flake neither"},
    {"--list", "", "show what is trusted"},
};

}  // namespace

const Command kTrustCommand = {
    .name = "trust",
    .summary = "let a project's own igloo.toml, or its flake, count",
    .usage = "(DIR [--flake | --remove] | --list)",
    .flags = kFlags,
    .words = {},
    .details =
        "A project's igloo.toml counts only as it was when you trusted it; look at it first. Even\n"
        "then it never opens the network, hands out secrets, shows directories or chooses the\n"
        "wall. Its environments are there for runs with --project DIR, or when [project] in your\n"
        "configuration names the directory.\n"
        "'use_flake' has Nix evaluate and build the project's development shell. That needs a yes\n"
        "of its own, --flake, for flake.nix, flake.lock, every other *.nix beside them and what "
        "is\n"
        "in nix/, as they are. Nix gets a copy of these files and sees nothing else of the "
        "project.\n",
    .run = RunTrust,
};

}  // namespace igloo::cli
