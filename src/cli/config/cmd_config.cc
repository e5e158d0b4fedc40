#include <fmt/format.h>
#include <unistd.h>

#include "base/error_text.h"
#include "base/text.h"
#include "cli/commands.h"
#include "cli/config/config_output.h"
#include "cli/config/settings.h"
#include "cli/console.h"
#include "config/example.h"
#include "config/load.h"
#include "config/problem.h"
#include "service/environments.h"
#include "service/flakes.h"
#include "service/images.h"
#include "service/places.h"

namespace igloo::cli {
namespace {

/// A flake in a directory of this machine: that directory; empty: it is elsewhere.
std::string DirectoryOf(const nix::Reference& reference) {
  std::string_view flake = reference.flake;
  if (flake.starts_with("path:")) flake.remove_prefix(5);
  if (!flake.starts_with('/')) return {};
  return std::string(flake.substr(0, flake.find('?')));
}

Result<void> ResolveFlake(const config::Config& config, const config::EnvironmentConfig& own) {
  const auto flake = service::FindFlake(config, own.name);
  if (!flake) return {};
  IGLOO_TRY(flake->wanted);
  IGLOO_ASSIGN(const nix::Settings settings, service::NixSettings(config));
  if (settings.program.empty()) {
    return Fail(Errc::kNotFound, "Nix, which would make it, is not installed");
  }
  const std::string directory = DirectoryOf(flake->wanted->reference);
  if (directory.empty() || ::access((directory + "/flake.nix").c_str(), F_OK) == 0) return {};
  return Fail(Errc::kNotFound, "there is no '" + directory + "/flake.nix'");
}

/// Whether this machine has what an environment is to be made of, as far as that can be told
/// without building, unpacking or fetching anything.
Result<void> Resolve(const config::Config& config, const config::EnvironmentConfig& own) {
  using config::SourceKind;
  if (own.source.kind == SourceKind::kFlake || own.source.kind == SourceKind::kDevShell) {
    return ResolveFlake(config, own);
  }
  if (own.source.kind == SourceKind::kArtifact) {
    IGLOO_ASSIGN(const environment::Artifact artifact,
                 environment::ReadArtifact(own.source.value, service::NixStore(config)));
    if (artifact.unavailable) return std::unexpected(*artifact.unavailable);
  }
  if (own.source.kind == SourceKind::kImage) {
    IGLOO_ASSIGN(const image::Reference reference, service::ReferenceOf(own));
    const bool here = reference.kind != image::Reference::Kind::kRegistry;
    if (here && ::access(reference.path.c_str(), F_OK) != 0) {
      return Fail(Errc::kNotFound, "there is no '" + reference.path + "'");
    }
  }
  return {};
}

/// The file may be right all the same, and meant for another machine.
void NoteUnresolved(const config::Config& config, Console& console) {
  for (const auto& [name, own] : config.environments) {
    const auto resolved = Resolve(config, own);
    if (resolved) continue;
    console.Note(fmt::format("note: {}: environment '{}' cannot be used here: {}",
                             config::Place(own.file, own.where), name,
                             Printable(InOneLine(resolved.error()))));
  }
}

Result<int> Check(const config::Choice& choice, bool json, Console& console) {
  const config::Variables variables = service::ReadVariables();
  const auto presets = service::PresetNames();
  config::Decoded decoded;
  if (choice.reason == config::Reason::kUser && ::access(choice.path.c_str(), F_OK) != 0) {
    if (!json) console.Out(fmt::format("there is no '{}': all is default\n", choice.path));
  } else if (choice.reason != config::Reason::kNone) {
    IGLOO_ASSIGN(const std::string text, config::ReadConfigFile(choice.path));
    decoded = config::Decode(text, config::OptionsFor(choice.path, variables, presets));
  }
  if (json) {
    console.Out(ConfigJson(decoded));
  } else if (decoded.problems.empty()) {
    console.Out(ConfigText(decoded.config));
    NoteUnresolved(decoded.config, console);
  } else {
    console.Err(ProblemsText(decoded));
  }
  return decoded.problems.empty() ? 0 : kExitFailed;
}

Result<int> ShowPath(const config::Choice& choice, Console& console) {
  if (choice.reason == config::Reason::kNone) {
    return Fail(Errc::kNotFound, "there is no place for a configuration: HOME is not set",
                "set HOME, or name a file with --config");
  }
  console.Out(choice.path + "\n");
  if (::access(choice.path.c_str(), F_OK) != 0) {
    console.Note(choice.reason == config::Reason::kUser ? "it does not exist: all is default"
                                                        : "it does not exist");
  }
  return 0;
}

Result<int> RunConfig(const ParsedArgs& args, Console& console) {
  const std::string_view verb = args.words.empty() ? std::string_view() : args.words[0];
  const std::size_t words = args.words.size();
  const auto choose = [&](const std::optional<std::string>& file) {
    return config::ChooseFile(file, service::ReadVariables());
  };
  if (verb == "check" && words <= 2) {
    const auto flag = args.Get("--config");
    if (flag && words == 2) {
      return Fail(Errc::kInvalidArgument, "the file is named twice", "leave --config out");
    }
    return Check(choose(words == 2 ? std::optional(args.words[1]) : flag), args.Has("--json"),
                 console);
  }
  if (verb == "path" && words == 1) return ShowPath(choose(args.Get("--config")), console);
  // What the repository's own files are made with.
  if (verb == "example" && words == 1) {
    console.Out(config::ExampleFile());
    return 0;
  }
  if (verb == "keys" && words == 1) {
    console.Out(args.Has("--json") ? config::KeysAsJson() : config::KeysAsMarkdown());
    return 0;
  }
  constexpr std::string_view kVerbs[] = {"check", "path"};
  const std::string nearest = Nearest(verb, kVerbs, std::size(kVerbs));
  return Fail(
      Errc::kInvalidArgument,
      verb.empty() ? "'igloo config' needs a word behind it"
                   : "'igloo config' does not understand '" + Printable(args.words.back()) + "'",
      nearest.empty() || nearest == verb ? "write igloo config check [FILE], or igloo config path"
                                         : "did you mean '" + nearest + "'?");
}

constexpr Flag kFlags[] = {
    {"--config", "FILE", "the file, instead of the one in the usual place", Values::kFile},
    {"--json", "", "with check: print one JSON document"},
};

}  // namespace

const Command kConfigCommand = {
    .name = "config",
    .summary = "check a configuration and say what it means",
    .usage = "(check [FILE] | path) [OPTIONS]",
    .flags = kFlags,
    .words = {},
    .details =
        "The file is the one that --config names, else IGLOO_CONFIG, else igloo/config.toml in\n"
        "XDG_CONFIG_HOME or ~/.config. Without a file everything has its default.\n"
        "'check' also notes environments whose artifact, image or flake is not on this machine; "
        "it\n"
        "builds and fetches nothing. 'igloo env show NAME' says what becomes of one "
        "environment.\n\n"
        "Examples:\n"
        "  igloo config path\n"
        "  igloo config check\n"
        "  igloo config check ./config.toml --json\n",
    .run = RunConfig,
};

}  // namespace igloo::cli
