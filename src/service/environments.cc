#include "service/environments.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "config/load.h"
#include "nix/closure.h"
#include "service/flakes.h"
#include "service/images.h"
#include "service/places.h"
#include "service/programs.h"

namespace igloo::service {
namespace {

std::string Variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

/// What opens an artifact when it is used.
auto OpenerFor(const config::Config& config) {
  return [closure_of = NixStore(config).closure_of](const environment::Artifact& artifact) {
    return OpenAnyArtifact(artifact, closure_of);
  };
}

/// With presets that are made from images, as far as nobody has something else of their name.
void AddImagePresets(std::vector<environment::Artifact>& artifacts) {
  for (environment::Artifact& preset : environment::ImagePresets()) {
    const bool beaten = std::ranges::any_of(artifacts, [&](const environment::Artifact& each) {
      return each.metadata.name == preset.metadata.name;
    });
    if (!beaten) artifacts.push_back(std::move(preset));
  }
}

environment::Registry RegistryOf(const config::Config& config, environment::HostLayout host,
                                 environment::ArtifactScan scan) {
  auto installed =
      environment::ScanArtifacts({InstalledFile("environments")}, NixStore(config)).found;
  AddImagePresets(installed);
  AddImagePresets(scan.found);
  return {std::move(host), std::move(scan), OpenerFor(config), std::move(installed)};
}

/// With what else is wrong with the places.
environment::ArtifactScan Checked(const config::Config& config, environment::ArtifactScan scan) {
  // A place that nobody named may be missing.
  if (!config.artifacts.empty() && ::access(config.artifacts.c_str(), F_OK) != 0) {
    scan.problems.push_back(
        {config.artifacts,
         {Errc::kNotFound, "it does not exist, and [artifacts] in '" + config.file + "' names it",
          "make it, or remove 'directory' there", 0}});
  }
  return scan;
}

environment::ArtifactScan Scan(const config::Config& config) {
  return Checked(config, environment::ScanArtifacts(ArtifactPlaces(config), NixStore(config)));
}

void ReadOwn(const config::Config& config, const config::EnvironmentConfig& own,
             Unpacking unpacking, config::Found& found) {
  if (own.source.kind == config::SourceKind::kImage) {
    found.images.emplace(own.name, ReadImageEnvironment(own, unpacking));
  }
  if (own.source.kind == config::SourceKind::kFlake ||
      own.source.kind == config::SourceKind::kDevShell) {
    if (const auto flake = FindFlake(config, own.name)) {
      found.flakes.emplace(own.name, ReadFlake(config, *flake));
    }
  }
  if (own.source.kind != config::SourceKind::kArtifact) return;
  const std::string& directory = own.source.value;
  found.artifacts.emplace(directory, environment::ReadArtifact(directory, NixStore(config)));
}

config::Catalogue CatalogueOf(const config::Config& config, environment::ArtifactScan scan) {
  config::Found found{.registry =
                          RegistryOf(config, environment::ReadHostLayout(), std::move(scan))};
  for (const auto& each : config.environments) {
    ReadOwn(config, each.second, Unpacking::kNever, found);
  }
  return {config, std::move(found)};
}

}  // namespace

environment::Store NixStore(const config::Config& config) {
  auto settings = NixSettings(config);
  if (!settings || settings->program.empty()) return {};
  return {.closure_of = [settings = *std::move(settings)](const environment::StorePlace& place) {
    nix::Settings own = settings;
    if (!place.prefix.empty()) own.store = place.prefix;
    return nix::Closure(own, place.path);
  }};
}

Result<environment::Environment> OpenAnyArtifact(const environment::Artifact& artifact,
                                                 const environment::ClosureOf& closure_of) {
  return artifact.metadata.image.empty() ? environment::OpenArtifact(artifact, closure_of)
                                         : OpenImageArtifact(artifact);
}

std::set<std::string> ImagesOfArtifacts(const config::Config& config) {
  environment::ArtifactScan scan = Scan(config);
  AddImagePresets(scan.found);
  std::set<std::string> images;
  for (const environment::Artifact& each : scan.found) {
    const auto reference = image::ParseReference(each.metadata.image, {});
    if (reference) images.insert(ToText(*reference));
  }
  return images;
}

std::vector<std::string> ArtifactPlaces(const config::Config& config) {
  std::string home = Variable("HOME");
  if (home.empty()) home = "/";
  std::string xdg = Variable("XDG_CONFIG_HOME");
  if (xdg.empty() || xdg[0] != '/') xdg = home + "/.config";
  std::vector<std::string> places;
  for (const std::string& place :
       {config.artifacts, xdg + "/igloo/environments", Variable("NIX_SANDBOX_DIR"),
        home + "/.config/nix-sandbox-mcp/sandboxes", InstalledFile("environments")}) {
    const bool known = std::ranges::find(places, place) != places.end();
    if (!place.empty() && !known) places.push_back(place);
  }
  return places;
}

Listed ListEnvironments(const config::Config& config) {
  const std::string state = config::StateDirectory(ReadVariables());
  const environment::ListMemory memory{.file = state.empty() ? "" : state + "/listed",
                                       .now = std::chrono::system_clock::now()};
  const config::Catalogue catalogue =
      CatalogueOf(config, Checked(config, environment::ListArtifacts(ArtifactPlaces(config),
                                                                     NixStore(config), memory)));
  return {.environments = catalogue.List(), .problems = catalogue.problems()};
}

config::Catalogue ReadEnvironmentsWith(const config::Config& config,
                                       const std::vector<environment::Artifact>& brought) {
  environment::ArtifactScan scan = Scan(config);
  for (const environment::Artifact& artifact : brought) {
    const bool beaten = std::ranges::any_of(scan.found, [&](const environment::Artifact& each) {
      return each.metadata.name == artifact.metadata.name;
    });
    if (!beaten) scan.found.push_back(artifact);
  }
  return CatalogueOf(config, std::move(scan));
}

config::Catalogue ReadEnvironments(const config::Config& config) {
  return ReadEnvironmentsWith(config, {});
}

Result<std::string> UseArtifact(const std::string& directory, config::Config& config) {
  std::error_code ignored;
  std::filesystem::path absolute = std::filesystem::absolute(directory, ignored);
  if (ignored) absolute = directory;
  auto artifact = environment::ReadArtifact(absolute.native(), NixStore(config));
  if (!artifact) {
    Error error = Wrap("'" + directory + "' is no artifact", std::move(artifact).error()).error();
    if (error.hint.empty()) error.hint = "name a directory that mkSandbox made";
    return std::unexpected(std::move(error));
  }
  const std::string& name = artifact->metadata.name;
  config::EnvironmentConfig own;
  const config::EnvironmentConfig* settings = config::FindEnvironment(config, name);
  if (settings != nullptr) own = *settings;
  own.name = name;
  own.file = directory;
  own.where = {};
  own.source = {config::SourceKind::kArtifact, absolute.native()};
  config.environments = {{name, std::move(own)}};
  return name;
}

config::Catalogue ReadNamed(const config::Config& config) {
  config::Found found{.registry = {environment::HostLayout{}, {}, OpenerFor(config)}};
  for (const auto& each : config.environments) {
    ReadOwn(config, each.second, Unpacking::kNever, found);
  }
  return {config, std::move(found)};
}

Result<config::Configured> ReadEnvironment(const config::Config& config, std::string_view name) {
  const std::string key = config::Canonical(config, name);
  const config::EnvironmentConfig* own = config::FindEnvironment(config, key);
  const bool preset = own != nullptr && own->source.kind == config::SourceKind::kPreset;
  // Only what has this very name in the file is certain to be no artifact somewhere else.
  const bool certain = own != nullptr && !own->source.implied &&
                       config.environments.contains(config::Resolve(config, name));
  config::Found found{.registry = RegistryOf(
                          config, environment::ReadHostLayoutFor(preset ? own->source.value : key),
                          certain ? environment::ArtifactScan{} : Scan(config))};
  if (own != nullptr) ReadOwn(config, *own, Unpacking::kNow, found);
  return config::Catalogue(config, std::move(found)).Find(name);
}

}  // namespace igloo::service
