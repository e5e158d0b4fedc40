#include "cli/environments.h"

#include <cstdlib>
#include <string>
#include <vector>

namespace igloo::cli {
namespace {

std::string Variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

/// Igloo's own place first, then the one that people have from nix-sandbox-mcp.
std::vector<std::string> ArtifactPlaces() {
  std::string home = Variable("HOME");
  if (home.empty()) home = "/";
  std::string config = Variable("XDG_CONFIG_HOME");
  if (config.empty() || config[0] != '/') config = home + "/.config";
  std::string seed = Variable("NIX_SANDBOX_DIR");
  if (seed.empty()) seed = home + "/.config/nix-sandbox-mcp/sandboxes";
  return {config + "/igloo/environments", seed};
}

}  // namespace

environment::Registry ReadEnvironments() {
  return {environment::ReadHostLayout(), environment::ScanArtifacts(ArtifactPlaces())};
}

Result<environment::Environment> FindEnvironment(std::string_view name) {
  const environment::Registry registry(environment::ReadHostLayoutFor(name),
                                       environment::ScanArtifacts(ArtifactPlaces()));
  return registry.Find(name);
}

}  // namespace igloo::cli
