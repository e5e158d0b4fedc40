#include "config/request.h"

#include <algorithm>

namespace igloo::config {
namespace {

/// A limit that somebody asked for is kept or refused, never dropped.
Result<void> CheckLimits(const Configured& configured) {
  const wall::Wall& wall = *configured.backend;
  if (wall.can.fine_memory_limits || !configured.limits.disk_files) return {};
  return Fail(
      Errc::kFailedPrecondition,
      "the configuration limits 'disk_files' of environment '" + configured.environment.name +
          "', which " + std::string(wall.name) + " cannot do",
      "use the backend " + std::string(wall::kDefault.name) + ", or leave 'disk_files' out");
}

}  // namespace

Result<void> Complete(const Config& config, const Configured& configured, const Lookup& lookup,
                      const Secrets& secrets, environment::RunRequest& request) {
  IGLOO_TRY(CheckLimits(configured));
  // What the file sets beats what the request came with, and what the caller has of those that the
  // file names beats both.
  for (const auto& [name, value] : configured.variables) request.variables[name] = value;
  for (const std::string& name : configured.inherit) {
    // SECURITY: the value itself would be inside, under the name of its source.
    const bool secret = std::ranges::any_of(configured.secrets, [&](const SecretConfig& each) {
      return each.source.kind == SecretSource::Kind::kVariable && each.source.value == name;
    });
    if (secret) continue;
    if (auto value = lookup(name)) request.variables[name] = *std::move(value);
  }
  if (!config.project.path.empty()) {
    request.project = {.path = config.project.path,
                       .mode = config.project.mode,
                       .mount_point = config.project.mount_point,
                       .rules = configured.hidden};
  }
  // A contract may ask for a network where the configuration says nothing of one.
  const network::Level asked = request.network.level;
  request.network = configured.network;
  if (!configured.names_network && request.network.level == network::Level::kNone) {
    request.network.level = asked;
  }
  request.resolver = config.resolver;
  IGLOO_TRY(secrets.Use(configured.secrets, request));
  if (auto checked = network::Check(request.network); !checked) {
    return Wrap("environment '" + configured.environment.name + "'", std::move(checked).error());
  }
  const wall::Capabilities& can = configured.backend->can;
  request.fine_memory_limits = can.fine_memory_limits;
  request.views = can.views;
  request.devices = can.device;
  request.backend = configured.backend->name;
  return {};
}

}  // namespace igloo::config
