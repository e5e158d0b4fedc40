#include "cli/reloading.h"

#include "cli/environments.h"
#include "cli/flakes.h"
#include "cli/images.h"
#include "cli/settings.h"
#include "config/sandbox_mcp_scan.h"

namespace igloo::cli {

std::vector<watch::Watched> ConfigurationFiles(const ParsedArgs& args) {
  const config::Choice choice = config::ChooseFile(args.Get("--config"), ReadVariables());
  if (choice.path.empty()) return {};
  return {{.path = choice.path}};
}

std::vector<watch::Watched> SourcesOf(const ParsedArgs& args, const config::Config& config,
                                      Sandboxes sandboxes) {
  const config::Variables variables = ReadVariables();
  std::vector<watch::Watched> sources = ConfigurationFiles(args);
  for (const std::string& place : ArtifactPlaces(config)) {
    sources.push_back({.path = place, .in_each = "metadata.json"});
  }
  // Whoever builds or adds one writes its record.
  if (const std::string home = NixHome(); !home.empty()) {
    sources.push_back({.path = home, .in_each = "record.json"});
  }
  for (const auto& [name, own] : config.environments) {
    if (own.source.kind == config::SourceKind::kImage) sources.push_back({.path = ImagesFile()});
    if (own.source.kind != config::SourceKind::kArtifact) continue;
    sources.push_back({.path = own.source.value + "/metadata.json"});
  }
  // A project's file counts only while it is trusted as it is.
  if (!config.project.path.empty()) {
    sources.push_back({.path = config.project.path + "/igloo.toml"});
    if (config.project.use_flake) {
      sources.push_back({.path = config.project.path + "/flake.nix"});
      sources.push_back({.path = config.project.path + "/flake.lock"});
    }
    const std::string state = config::StateDirectory(variables);
    if (!state.empty()) sources.push_back({.path = state + "/trust", .in_each = "."});
  }
  if (sandboxes == Sandboxes::kServe) {
    if (const auto own = config::LoadSandboxMcpConfig(variables)) {
      if (!own->file.empty()) sources.push_back({.path = own->file});
      if (!own->sandboxes_path.empty()) {
        sources.push_back({.path = own->sandboxes_path, .in_each = "config.json"});
        sources.push_back({.path = ImagesFile()});
      }
    }
  }
  return sources;
}

}  // namespace igloo::cli
