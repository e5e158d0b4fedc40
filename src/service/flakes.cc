#include "service/flakes.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <memory>

#include "base/text.h"
#include "config/load.h"
#include "config/problem.h"
#include "environment/artifact.h"
#include "service/environments.h"
#include "service/places.h"

namespace igloo::service {
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

/// Whether a reference is of those that name nothing on this machine; an unknown kind may.
bool IsElsewhere(std::string_view flake) {
  for (const std::string_view scheme :
       {"github:", "gitlab:", "sourcehut:", "https://", "git+https://", "git+ssh://"}) {
    if (flake.starts_with(scheme)) return true;
  }
  // A name in the user's registry.
  return !flake.contains(':') && !flake.starts_with('/');
}

std::string RealPath(const std::string& path) {
  std::error_code failure;
  return std::filesystem::weakly_canonical(path, failure).string();
}

/// A project's flake, if the user trusts it as it is.
Result<ProjectFlake> TrustedFlake(const std::string& directory, const EnvironmentConfig& own) {
  const std::string place = config::Place(own.file, own.where);
  const std::string state = config::StateDirectory(ReadVariables());
  config::TrustDirectory store(state + "/trust");
  if (state.empty()) {
    return Fail(Errc::kFailedPrecondition, place + ": there is no place for what is trusted",
                "set HOME or XDG_STATE_HOME");
  }
  IGLOO_ASSIGN(ProjectFlake flake, ReadProjectFlake(directory, store));
  if (flake.trust == config::Trust::kTrusted) return flake;
  if (flake.trust == config::Trust::kNoFile) {
    return Fail(Errc::kNotFound, "the project '" + flake.directory + "' has no flake.nix",
                "make one, or leave 'use_flake' out");
  }
  const bool changed = flake.trust == config::Trust::kChanged;
  return Fail(Errc::kPermissionDenied,
              "the flake of the project '" + flake.directory + "' " +
                  (changed ? "has changed since it was trusted" : "is not trusted"),
              "look at its *.nix, flake.lock and nix/, then: igloo trust --flake " +
                  ShellQuote(flake.directory));
}

Result<void> TakeProject(const EnvironmentConfig& own, nix::Wanted& wanted) {
  IGLOO_ASSIGN(ProjectFlake flake, TrustedFlake(wanted.project, own));
  wanted.reference.flake = wanted.project;
  wanted.trusted = std::move(flake.digest);
  wanted.files = std::move(flake.files);
  return {};
}

/// SECURITY: a project's own file names flakes elsewhere, whose content is pinned, or the project
/// itself, which the user trusts as it is; nothing else on this machine.
Result<void> CheckProjectReference(const EnvironmentConfig& own, nix::Wanted& wanted) {
  std::string_view flake = wanted.reference.flake;
  if (IsElsewhere(flake)) return {};
  if (flake.starts_with("path:")) flake.remove_prefix(5);
  const bool itself = flake.starts_with('/') && RealPath(std::string(flake)) == wanted.project;
  if (itself) return TakeProject(own, wanted);
  return Fail(Errc::kPermissionDenied,
              "'" + Printable(own.source.value) +
                  "' may lie outside of the project, which a project's own file never names",
              "write \".\" for the project itself, or move it to your own configuration; 'igloo "
              "config path' says where that is");
}

Result<nix::Wanted> WantedOf(const EnvironmentConfig& own) {
  nix::Wanted wanted{.name = own.name};
  if (own.source.kind == SourceKind::kDevShell) {
    wanted.kind = nix::Kind::kShell;
    wanted.project = RealPath(own.source.value);
    IGLOO_TRY(TakeProject(own, wanted));
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
  IGLOO_ASSIGN(environment::Environment made, OpenAnyArtifact(artifact, store.closure_of));
  made.name = flake.name;
  made.provider = built.artifact ? "artifact" : "flake";
  // What igloo had Nix make of a package asks for nothing.
  if (!built.artifact) made.asked.reset();
  made.source = built.reference;
  made.locked = built.locked;
  // Without it the environment works as well; only 'igloo env gc' does not know of it.
  if (auto use = nix::Place(settings, flake.wanted->key).Use()) {
    made.in_use = std::make_shared<const UniqueFd>(*std::move(use));
  }
  return made;
}

Result<ProjectFlake> ReadProjectFlake(const std::string& directory, config::TrustStore& store) {
  ProjectFlake flake{.directory = RealPath(directory)};
  flake.entry = flake.directory + "/flake.nix";
  IGLOO_ASSIGN(flake.files, nix::ReadProjectFiles(flake.directory));
  if (flake.files.empty()) return flake;
  flake.digest = nix::DigestOf(flake.files);
  IGLOO_ASSIGN(const auto trusted, store.Find(flake.entry));
  flake.trust = !trusted                   ? config::Trust::kUntrusted
                : *trusted == flake.digest ? config::Trust::kTrusted
                                           : config::Trust::kChanged;
  return flake;
}

}  // namespace igloo::service
