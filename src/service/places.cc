#include "service/places.h"

#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <iterator>

#include "base/text.h"
#include "environment/registry.h"
#include "service/programs.h"

namespace igloo::service {

config::Variables ReadVariables() {
  const auto get = [](const char* name) {
    const char* value = std::getenv(name);
    return std::string(value != nullptr ? value : "");
  };
  return {.igloo_config = get("IGLOO_CONFIG"),
          .xdg_config_home = get("XDG_CONFIG_HOME"),
          .xdg_state_home = get("XDG_STATE_HOME"),
          .home = get("HOME"),
          .installed = InstalledFile("config.toml")};
}

Result<std::string> StatePlace() {
  const config::Variables variables = ReadVariables();
  std::string place = config::StateDirectory(variables);
  if (place.empty()) {
    return Fail(Errc::kFailedPrecondition, "neither HOME nor XDG_STATE_HOME names a directory",
                "set HOME or XDG_STATE_HOME");
  }
  const bool at_home = !variables.xdg_state_home.starts_with('/');
  if (at_home && ::access(variables.home.c_str(), F_OK) != 0) {
    const int saved_errno = errno;
    return FailSys(saved_errno, "HOME is '" + Printable(variables.home) + "', which is not there",
                   "make it, or set XDG_STATE_HOME");
  }
  return place;
}

std::vector<std::string_view> PresetNames() {
  std::vector<std::string_view> names;
  for (const auto& each : environment::HostEnvironments()) names.push_back(each.name);
  names.insert(names.end(), std::begin(environment::kInstalledPresets),
               std::end(environment::kInstalledPresets));
  static const std::vector<environment::Artifact> images = environment::ImagePresets();
  for (const auto& each : images) names.push_back(each.metadata.name);
  return names;
}

}  // namespace igloo::service
