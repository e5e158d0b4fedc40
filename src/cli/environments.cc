#include "cli/environments.h"

#include <unistd.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "cli/flakes.h"

namespace igloo::cli {
namespace {

std::string Variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

environment::ArtifactScan Scan(const config::Config& config) {
  environment::ArtifactScan scan = environment::ScanArtifacts(ArtifactPlaces(config));
  // A place that nobody named may be missing.
  if (!config.artifacts.empty() && ::access(config.artifacts.c_str(), F_OK) != 0) {
    scan.problems.push_back(
        {config.artifacts,
         {Errc::kNotFound, "it does not exist, and [artifacts] in '" + config.file + "' names it",
          "make it, or remove 'directory' there", 0}});
  }
  return scan;
}

void ReadOwn(const config::Config& config, const config::EnvironmentConfig& own,
             config::Found& found) {
  if (own.source.kind == config::SourceKind::kFlake ||
      own.source.kind == config::SourceKind::kDevShell) {
    if (const auto flake = FindFlake(config, own.name)) {
      found.flakes.emplace(own.name, ReadFlake(config, *flake));
    }
  }
  if (own.source.kind != config::SourceKind::kArtifact) return;
  const std::string& directory = own.source.value;
  found.artifacts.emplace(directory, environment::ReadArtifact(directory));
}

}  // namespace

std::vector<std::string> ArtifactPlaces(const config::Config& config) {
  std::string home = Variable("HOME");
  if (home.empty()) home = "/";
  std::string xdg = Variable("XDG_CONFIG_HOME");
  if (xdg.empty() || xdg[0] != '/') xdg = home + "/.config";
  std::string seed = Variable("NIX_SANDBOX_DIR");
  if (seed.empty()) seed = home + "/.config/nix-sandbox-mcp/sandboxes";
  std::vector<std::string> places = {xdg + "/igloo/environments", seed};
  if (!config.artifacts.empty() && config.artifacts != places[0] && config.artifacts != places[1]) {
    places.insert(places.begin(), config.artifacts);
  }
  return places;
}

config::Catalogue ReadEnvironments(const config::Config& config) {
  config::Found found{.registry = {environment::ReadHostLayout(), Scan(config)}};
  for (const auto& each : config.environments) ReadOwn(config, each.second, found);
  return {config, std::move(found)};
}

Result<config::Configured> ReadEnvironment(const config::Config& config, std::string_view name) {
  const std::string key = config::Canonical(config, name);
  const config::EnvironmentConfig* own = config::FindEnvironment(config, key);
  const bool preset = own != nullptr && own->source.kind == config::SourceKind::kPreset;
  // Only what has this very name in the file is certain to be no artifact somewhere else.
  const bool certain = own != nullptr && !own->source.implied &&
                       config.environments.contains(config::Resolve(config, name));
  config::Found found{.registry = {environment::ReadHostLayoutFor(preset ? own->source.value : key),
                                   certain ? environment::ArtifactScan{} : Scan(config)}};
  if (own != nullptr) ReadOwn(config, *own, found);
  return config::Catalogue(config, std::move(found)).Find(name);
}

}  // namespace igloo::cli
