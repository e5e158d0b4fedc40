#include "cli/flakes.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <memory>

#include "base/text.h"
#include "cli/console.h"
#include "cli/environments.h"
#include "cli/progress.h"
#include "cli/settings.h"
#include "config/load.h"
#include "config/problem.h"
#include "environment/artifact.h"
#include "nix/build.h"

namespace igloo::cli {
namespace {

using config::EnvironmentConfig;
using config::SourceKind;

std::string Variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

bool IsFlake(const EnvironmentConfig& own) {
  return own.source.kind == SourceKind::kFlake || own.source.kind == SourceKind::kDevShell;
}

/// What relative references in a file are relative to.
std::string DirectoryOf(const std::string& file) {
  std::error_code failure;
  const auto absolute = std::filesystem::absolute(file, failure);
  return failure ? "/" : absolute.parent_path().string();
}

/// The path that a reference to this machine's files names; empty: it is somewhere else.
std::string LocalPath(std::string_view flake) {
  flake = flake.substr(0, flake.find('?'));
  for (const std::string_view scheme : {"path:", "git+file://", "file://", "git+file:", "file:"}) {
    if (flake.starts_with(scheme)) return std::string(flake.substr(scheme.size()));
  }
  return flake.starts_with('/') ? std::string(flake) : "";
}

std::string RealPath(const std::string& path) {
  std::error_code failure;
  return std::filesystem::weakly_canonical(path, failure).string();
}

/// The digest of a project's flake, if the user trusts it as it is.
Result<std::string> TrustedDigest(const std::string& directory, const EnvironmentConfig& own) {
  const std::string place = config::Place(own.file, own.where);
  const std::string state = config::StateDirectory(ReadVariables());
  config::TrustDirectory store(state + "/trust");
  if (state.empty()) {
    return Fail(Errc::kFailedPrecondition, place + ": there is no place for what is trusted",
                "set HOME or XDG_STATE_HOME");
  }
  IGLOO_ASSIGN(const ProjectFlake flake, ReadProjectFlake(directory, store));
  if (flake.trust == config::Trust::kTrusted) return flake.digest;
  if (flake.trust == config::Trust::kNoFile) {
    return Fail(Errc::kNotFound, "the project '" + flake.directory + "' has no flake.nix",
                "make one, or leave 'use_flake' out");
  }
  const bool changed = flake.trust == config::Trust::kChanged;
  return Fail(Errc::kPermissionDenied,
              "the flake of the project '" + flake.directory + "' " +
                  (changed ? "has changed since it was trusted" : "is not trusted"),
              "look at its flake.nix and flake.lock, then: igloo trust --flake " +
                  ShellQuote(flake.directory));
}

/// SECURITY: a project's own file names flakes elsewhere, whose content is pinned, or the project
/// itself, which the user trusts as it is; no other directory of the user's.
Result<void> CheckProjectReference(const EnvironmentConfig& own, nix::Wanted& wanted) {
  const std::string local = LocalPath(wanted.reference.flake);
  if (local.empty()) return {};
  if (RealPath(local) != wanted.project) {
    return Fail(
        Errc::kPermissionDenied,
        "'" + Printable(own.source.value) +
            "' is a directory outside of the project, which a project's own file never names",
        "move it to your own configuration; 'igloo config path' says where that is");
  }
  IGLOO_ASSIGN(wanted.trusted, TrustedDigest(wanted.project, own));
  return {};
}

Result<nix::Wanted> WantedOf(const EnvironmentConfig& own) {
  nix::Wanted wanted{.name = own.name};
  if (own.source.kind == SourceKind::kDevShell) {
    wanted.kind = nix::Kind::kShell;
    wanted.project = RealPath(own.source.value);
    wanted.reference.flake = wanted.project;
    IGLOO_ASSIGN(wanted.trusted, TrustedDigest(wanted.project, own));
  } else {
    IGLOO_ASSIGN(wanted.reference, nix::ParseReference(own.source.value, DirectoryOf(own.file)));
    if (own.origin == config::Origin::kProject) {
      wanted.project = RealPath(DirectoryOf(own.file));
      IGLOO_TRY(CheckProjectReference(own, wanted));
    }
  }
  wanted.key = nix::KeyFor(wanted.name, wanted.project);
  return wanted;
}

/// References with commas between them.
std::vector<std::string> SplitReferences(const std::string& all) {
  std::vector<std::string> references;
  for (std::string_view rest = all; !rest.empty();) {
    std::string_view text = rest.substr(0, rest.find(','));
    rest.remove_prefix(std::min(rest.size(), text.size() + 1));
    while (text.starts_with(' ')) text.remove_prefix(1);
    while (text.ends_with(' ')) text.remove_suffix(1);
    if (!text.empty()) references.emplace_back(text);
  }
  return references;
}

void AddOne(const std::string& name, const std::string& reference, config::Config& config) {
  EnvironmentConfig& own = config.environments[name];
  // What a file says about a name counts for whoever has it.
  if (!own.name.empty() && !own.source.implied) return;
  own.name = name;
  own.source = {SourceKind::kFlake, reference};
}

/// An artifact says itself what it is called, and nobody chose the other name.
void AddOwnName(const std::string& name, config::Config& config) {
  const auto built = nix::Place({.home = NixHome()}, name).ReadRecord().built;
  if (!built || !built->artifact) return;
  const auto artifact =
      environment::ReadArtifact(built->prefix + built->out, {.prefix = built->prefix});
  if (!artifact || config.environments.contains(artifact->metadata.name)) return;
  config.environments[artifact->metadata.name] = {.name = artifact->metadata.name,
                                                  .source = {SourceKind::kAlias, name}};
}

}  // namespace

std::string NixHome() {
  const std::string state = config::StateDirectory(ReadVariables());
  return state.empty() ? "" : state + "/nix";
}

Result<nix::Settings> NixSettings(const config::Config& config) {
  nix::Settings settings{
      .program = config.nix.program, .store = config.nix.store, .home = NixHome()};
  if (settings.home.empty()) {
    return Fail(Errc::kFailedPrecondition, "there is no place for environments from Nix",
                "set HOME or XDG_STATE_HOME");
  }
  if (settings.program.empty()) settings.program = nix::FindNix(Variable);
  if (!config.nix.nixpkgs.empty()) {
    auto nixpkgs = nix::ParseReference(config.nix.nixpkgs, DirectoryOf(config.file));
    if (!nixpkgs) return Wrap(config.file + ": 'nixpkgs' in [nix]", std::move(nixpkgs).error());
    settings.nixpkgs = nixpkgs->flake;
  }
  settings.variables = nix::VariablesForNix(Variable);
  return settings;
}

void AddFlakes(config::Config& config) {
  const std::string home = NixHome();
  if (home.empty()) return;
  for (const nix::Wanted& added : nix::Added({.home = home})) {
    AddOne(added.name, ToText(added.reference), config);
  }
  for (const std::string& text : SplitReferences(Variable("NIX_SANDBOX_ENVS"))) {
    std::error_code ignored;
    const auto here = std::filesystem::current_path(ignored).string();
    const auto reference = nix::ParseReference(text, here);
    // One that is none is listed as well, with the reason.
    const std::string name = reference ? nix::NameFor(*reference) : "NIX_SANDBOX_ENVS";
    AddOne(name, reference ? ToText(*reference) : text, config);
    AddOwnName(name, config);
  }
}

std::vector<Flake> FlakesOf(const config::Config& config) {
  std::vector<Flake> flakes;
  for (const auto& [name, own] : config.environments) {
    if (IsFlake(own)) flakes.push_back({.name = name, .wanted = WantedOf(own)});
  }
  return flakes;
}

std::optional<Flake> FindFlake(const config::Config& config, std::string_view name) {
  const EnvironmentConfig* own = config::FindEnvironment(config, config::Canonical(config, name));
  if (own == nullptr || !IsFlake(*own)) return std::nullopt;
  return Flake{.name = own->name, .wanted = WantedOf(*own)};
}

Result<environment::Environment> ReadFlake(const config::Config& config, const Flake& flake) {
  IGLOO_TRY(flake.wanted);
  IGLOO_ASSIGN(const nix::Settings settings, NixSettings(config));
  nix::State state = nix::Look(settings, *flake.wanted);
  if (state.kind != nix::State::Kind::kReady) return std::unexpected(std::move(state.error));
  const nix::Built& built = state.built;
  environment::Store store = NixStore(config);
  store.prefix = built.prefix;
  IGLOO_ASSIGN(const environment::Artifact artifact,
               environment::ReadArtifact(built.prefix + built.out, store));
  if (artifact.unavailable) return std::unexpected(*artifact.unavailable);
  IGLOO_ASSIGN(environment::Environment made,
               environment::OpenArtifact(artifact, store.closure_of));
  made.name = flake.name;
  made.provider = built.artifact ? "artifact" : "flake";
  made.source = built.reference;
  made.locked = built.locked;
  // Without it the environment works as well; only 'igloo env gc' does not know of it.
  if (auto use = nix::Place(settings, flake.wanted->key).Use()) {
    made.in_use = std::make_shared<const UniqueFd>(*std::move(use));
  }
  return made;
}

Result<void> BuildForUse(const config::Config& config, std::string_view name, Console& console) {
  const auto flake = FindFlake(config, name);
  // What cannot be asked for at all says so when it is looked for.
  if (!flake || !flake->wanted) return {};
  IGLOO_ASSIGN(const nix::Settings settings, NixSettings(config));
  Progress progress(console, "building '" + flake->name + "'");
  const auto built = nix::Build(settings, *flake->wanted,
                                {.progress = [&](std::string_view line) { progress.Show(line); }});
  if (!built) return Wrap("building environment '" + flake->name + "'", built.error());
  return {};
}

Result<ProjectFlake> ReadProjectFlake(const std::string& directory, config::TrustStore& store) {
  ProjectFlake flake{.directory = RealPath(directory)};
  flake.entry = flake.directory + "/flake.nix";
  // SECURITY: Nix does not follow links out of a flake, either.
  const auto text = config::ReadConfigFile(flake.entry, config::Links::kRefuse);
  if (!text) {
    if (text.error().sys_errno == ENOENT || text.error().sys_errno == ENOTDIR) return flake;
    return std::unexpected(text.error());
  }
  const auto lock = config::ReadConfigFile(flake.directory + "/flake.lock", config::Links::kRefuse);
  if (!lock && lock.error().sys_errno != ENOENT) return std::unexpected(lock.error());
  flake.digest = nix::FlakeDigest(*text, lock.value_or(""));
  IGLOO_ASSIGN(const auto trusted, store.Find(flake.entry));
  flake.trust = !trusted                   ? config::Trust::kUntrusted
                : *trusted == flake.digest ? config::Trust::kTrusted
                                           : config::Trust::kChanged;
  return flake;
}

}  // namespace igloo::cli
