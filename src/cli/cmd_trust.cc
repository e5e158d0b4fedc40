#include <fmt/format.h>

#include <filesystem>

#include "base/text.h"
#include "cli/commands.h"
#include "cli/config_output.h"
#include "cli/console.h"
#include "cli/settings.h"
#include "config/trust.h"

namespace igloo::cli {
namespace {

Result<int> List(config::TrustStore& store, Console& console) {
  IGLOO_ASSIGN(const auto all, store.List());
  for (const config::Trusted& each : all) {
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
  if (!removed) {
    return Fail(Errc::kNotFound, "'" + name + "' was not trusted",
                "igloo trust --list shows what is");
  }
  console.Out("no longer trusted: " + Printable(name) + "\n");
  return 0;
}

Result<int> Add(const std::string& directory, config::TrustStore& store, Console& console) {
  IGLOO_ASSIGN(const config::ProjectFile file, config::ReadProjectFile(directory, store));
  if (file.trust == config::Trust::kNoFile) {
    return Fail(Errc::kNotFound, "the project '" + file.directory + "' has no igloo.toml",
                "without one there is nothing to trust");
  }
  const config::Decoded decoded = config::DecodeProjectFile(file, PresetNames());
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
  const std::string state = config::StateDirectory(ReadVariables());
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
  return remove ? Remove(args.words[0], store, console) : Add(args.words[0], store, console);
}

constexpr Flag kFlags[] = {
    {"--remove", "", "trust the project no longer"},
    {"--list", "", "show what is trusted"},
};

}  // namespace

const Command kTrustCommand = {
    .name = "trust",
    .summary = "let a project's own igloo.toml count",
    .usage = "(DIR [--remove] | --list)",
    .flags = kFlags,
    .words = {},
    .details =
        "A project's igloo.toml counts only as it was when you trusted it; look at it first. Even\n"
        "then it never opens the network, hands out secrets, shows directories or chooses the\n"
        "wall. Its environments are there for runs with --project DIR, or when [project] in your\n"
        "configuration names the directory.\n",
    .run = RunTrust,
};

}  // namespace igloo::cli
