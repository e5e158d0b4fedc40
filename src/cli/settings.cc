#include "cli/settings.h"

#include <unistd.h>

#include <cerrno>
#include <cstdlib>

#include "base/text.h"
#include "cli/console.h"
#include "cli/flakes.h"
#include "cli/options.h"
#include "cli/programs.h"
#include "config/problem.h"
#include "config/trust.h"
#include "environment/registry.h"
#include "sandbox/path.h"

namespace igloo::cli {
namespace {

/// --project replaces the file's project as a whole: its variables were meant for that one.
Result<void> TakeProjectFlags(const ParsedArgs& args, config::Config& config) {
  const auto flag = args.Get("--project");
  if (flag && args.Has("--no-project")) {
    return Fail(Errc::kInvalidArgument, "'--project' and '--no-project' contradict each other",
                "leave one of them out");
  }
  if (args.Has("--no-project")) config.project = {};
  if (flag) {
    IGLOO_ASSIGN(environment::Project project, SplitProject(*flag));
    // No project is something else than none that could be found.
    if (project.path.empty()) return CheckProject(project);
    config.project = {
        .path = project.path, .mode = project.mode, .mount_point = config.project.mount_point};
  }
  if (const auto mount_point = args.Get(kProjectMountFlag)) {
    config.project.mount_point = *mount_point;
  }
  return {};
}

Result<void> CheckShownProject(config::Config& config) {
  const bool named_by_file = config.project.where.line != 0;
  if (named_by_file) IGLOO_TRY(config::CheckAvailable(config, "project"));
  environment::Project project{.path = config.project.path,
                               .mode = config.project.mode,
                               .mount_point = config.project.mount_point};
  auto checked = sandbox::CheckTarget(project.mount_point);
  if (checked) checked = CheckProject(project);
  if (!checked) {
    if (!named_by_file) return checked;
    return Wrap(config::Place(config.file, config.project.where), std::move(checked).error());
  }
  config.project.path = project.path;
  return {};
}

Result<config::Config> AddProjectFile(config::Config config, const config::Variables& variables,
                                      std::span<const std::string_view> presets, Console& console) {
  const std::string state = config::StateDirectory(variables);
  config::TrustDirectory store(state + "/trust");
  IGLOO_ASSIGN(const config::ProjectFile file,
               config::ReadTrustedFile(config.project.path, state.empty() ? nullptr : &store));
  if (file.trust == config::Trust::kUntrusted || file.trust == config::Trust::kChanged) {
    const bool changed = file.trust == config::Trust::kChanged;
    console.Note("note: '" + Printable(file.path) + "' does not count: it " +
                 (changed ? "has changed since it was trusted" : "is not trusted") +
                 "; look at it, then: igloo trust " + ShellQuote(Printable(file.directory)));
  }
  IGLOO_ASSIGN(config, config::WithProject(std::move(config), file, presets));
  return config::WithProjectFlake(std::move(config));
}

}  // namespace

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

Result<config::Config> ReadConfig(const ParsedArgs& args, ProjectUse use, Console& console) {
  const config::Variables variables = ReadVariables();
  const auto presets = PresetNames();
  IGLOO_ASSIGN(
      config::Config config,
      config::Load(config::ChooseFile(args.Get("--config"), variables), variables, presets));
  if (config.out_of_reach) {
    console.Note("note: '" + Printable(config.file) + "' cannot be looked at: all is default");
  }
  IGLOO_TRY(TakeProjectFlags(args, config));
  if (config.project.path.empty()) {
    config.project = {};
    AddFlakes(config);
    return config;
  }
  if (use == ProjectUse::kShow) IGLOO_TRY(CheckShownProject(config));
  IGLOO_ASSIGN(config, AddProjectFile(std::move(config), variables, presets, console));
  AddFlakes(config);
  return config;
}

}  // namespace igloo::cli
