#include "cli/settings.h"

#include <cstdlib>

#include "environment/host.h"

namespace igloo::cli {

config::Variables ReadVariables() {
  const auto get = [](const char* name) {
    const char* value = std::getenv(name);
    return std::string(value != nullptr ? value : "");
  };
  return {.igloo_config = get("IGLOO_CONFIG"),
          .xdg_config_home = get("XDG_CONFIG_HOME"),
          .xdg_state_home = get("XDG_STATE_HOME"),
          .home = get("HOME")};
}

std::vector<std::string_view> PresetNames() {
  std::vector<std::string_view> names;
  for (const auto& each : environment::HostEnvironments()) names.push_back(each.name);
  return names;
}

}  // namespace igloo::cli
