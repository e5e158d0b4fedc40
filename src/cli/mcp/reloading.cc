#include "cli/mcp/reloading.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include "cli/config/settings.h"
#include "config/sandbox_mcp_scan.h"
#include "service/environments.h"
#include "service/flakes.h"
#include "service/images.h"
#include "service/places.h"

namespace igloo::cli {

std::vector<watch::Watched> ConfigurationFiles(const ParsedArgs& args) {
  const config::Choice choice = config::ChooseFile(args.Get("--config"), service::ReadVariables());
  if (choice.path.empty()) return {};
  return {{.path = choice.path}};
}

std::vector<watch::Watched> OtherConfigurationFiles(const config::Config& config,
                                                    Sandboxes sandboxes) {
  std::vector<watch::Watched> files;
  // A project's file counts only while it is trusted as it is.
  if (!config.project.path.empty()) files.push_back({.path = config.project.path + "/igloo.toml"});
  if (sandboxes != Sandboxes::kServe) return files;
  const auto own = config::LoadSandboxMcpConfig(service::ReadVariables());
  if (own && !own->file.empty()) files.push_back({.path = own->file});
  return files;
}

std::string StampOf(const std::vector<watch::Watched>& files) {
  std::string stamp = "files:";
  for (const watch::Watched& each : files) {
    struct stat info{};
    if (::stat(each.path.c_str(), &info) != 0) info = {};
    // The time of its last change cannot be set back, unlike that of its content.
    stamp += fmt::format(" {} {}:{} {} {}.{}", each.path, info.st_dev, info.st_ino, info.st_size,
                         info.st_ctim.tv_sec, info.st_ctim.tv_nsec);
  }
  return stamp;
}

std::vector<watch::Watched> SourcesOf(const ParsedArgs& args, const config::Config& config,
                                      Sandboxes sandboxes) {
  const config::Variables variables = service::ReadVariables();
  std::vector<watch::Watched> sources = ConfigurationFiles(args);
  for (watch::Watched& file : OtherConfigurationFiles(config, sandboxes)) {
    sources.push_back(std::move(file));
  }
  for (const std::string& place : service::ArtifactPlaces(config)) {
    sources.push_back({.path = place, .in_each = "metadata.json"});
  }
  // Whoever builds or adds one writes its record.
  if (const std::string home = service::NixHome(); !home.empty()) {
    sources.push_back({.path = home, .in_each = "record.json"});
  }
  // Presets and artifacts may be made of images, too.
  if (const std::string images = service::ImagesFile(); !images.empty())
    sources.push_back({.path = images});
  for (const auto& [name, own] : config.environments) {
    if (own.source.kind != config::SourceKind::kArtifact) continue;
    sources.push_back({.path = own.source.value + "/metadata.json"});
  }
  if (!config.project.path.empty()) {
    if (config.project.use_flake) {
      sources.push_back({.path = config.project.path + "/flake.nix"});
      sources.push_back({.path = config.project.path + "/flake.lock"});
    }
    const std::string state = config::StateDirectory(variables);
    if (!state.empty()) sources.push_back({.path = state + "/trust", .in_each = "."});
  }
  if (sandboxes == Sandboxes::kServe) {
    const auto own = config::LoadSandboxMcpConfig(variables);
    if (own && !own->sandboxes_path.empty()) {
      sources.push_back({.path = own->sandboxes_path, .in_each = "config.json"});
    }
  }
  return sources;
}

}  // namespace igloo::cli
