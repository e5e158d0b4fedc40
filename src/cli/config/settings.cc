#include "cli/config/settings.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>

#include "base/text.h"
#include "cli/console.h"
#include "cli/options.h"
#include "config/problem.h"
#include "config/trust.h"
#include "environment/registry.h"
#include "sandbox/path.h"
#include "service/caller.h"
#include "service/flakes.h"
#include "service/places.h"
#include "service/programs.h"

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
    // What is hidden stays hidden; what was opened was opened for that one.
    config.project = {.path = project.path,
                      .mode = project.mode,
                      .mount_point = config.project.mount_point,
                      .hidden = {.hide = config.project.hidden.hide}};
  }
  for (std::string& glob : args.All("--show-hidden")) {
    config.project.hidden.show.push_back(std::move(glob));
  }
  if (const auto mount_point = args.Get(kProjectMountFlag)) {
    config.project.mount_point = *mount_point;
  }
  return {};
}

/// The path behind all links, as far as it is there.
std::filesystem::path RealPath(const std::filesystem::path& path) {
  std::error_code ignored;
  auto real = std::filesystem::weakly_canonical(path, ignored);
  return ignored ? path : real;
}

/// Directories that decide what code may do, or hold the keys of servers.
std::vector<std::string> OwnDirectories() {
  const config::Variables variables = service::ReadVariables();
  std::vector<std::string> own;
  const bool xdg = variables.xdg_config_home.starts_with('/');
  if (xdg || variables.home.starts_with('/')) {
    const std::string base = xdg ? variables.xdg_config_home : variables.home + "/.config";
    for (const char* each : {"igloo", "nix-sandbox-mcp", "sandbox-mcp"}) {
      own.push_back(base + "/" + each);
    }
  }
  if (std::string state = config::StateDirectory(variables); !state.empty()) {
    own.push_back(std::move(state));
  }
  return own;
}

/// SECURITY: who sees the configuration knows what can be reached and how, and who can change it
/// gives himself more with the next look that a server takes at it.
Result<void> RefuseOwnDirectories(const environment::Project& project, const std::string& file) {
  for (const std::string& each : OwnDirectories()) {
    const std::string own = RealPath(each).string();
    if (::access(own.c_str(), F_OK) != 0) continue;
    if (!sandbox::IsWithin(own, project.path) && !sandbox::IsWithin(project.path, own)) continue;
    return Fail(Errc::kInvalidArgument,
                "the project '" + project.path + "' has igloo's own directory '" + own +
                    "' in it, or lies there; it is not mounted",
                "name the project's directory: a relative 'path' in a configuration, '.' too, is "
                "relative to that file and not to where igloo is started");
  }
  std::error_code ignored;
  const auto absolute = std::filesystem::absolute(file, ignored);
  const std::string used = file.empty() ? "" : RealPath(absolute).string();
  const bool writable = project.mode == environment::ProjectMode::kReadWrite;
  if (!writable || used.empty() || !sandbox::IsWithin(used, project.path)) return {};
  return Fail(Errc::kInvalidArgument,
              "code could change the configuration '" + used + "', which lies in the project",
              "keep it elsewhere, or write mode = \"overlay\"");
}

Result<void> CheckShownProject(config::Config& config) {
  const bool named_by_file = config.project.where.line != 0;
  if (named_by_file) IGLOO_TRY(config::CheckAvailable(config, "project"));
  environment::Project project{.path = config.project.path,
                               .mode = config.project.mode,
                               .mount_point = config.project.mount_point};
  auto checked = sandbox::CheckTarget(project.mount_point);
  if (checked) checked = CheckProject(project);
  if (checked) checked = RefuseOwnDirectories(project, config.file);
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

ParsedArgs WithNamedProject(ParsedArgs args, const std::function<void(std::string_view)>& say) {
  if (args.Has("--project") || args.Has("--no-project")) return args;
  const std::string mount_point = service::CallersVariable("PROJECT_MOUNT").value_or("");
  if (!mount_point.empty()) args.flags[kProjectMountFlag] = mount_point;
  const std::string named = service::CallersVariable("PROJECT_DIR").value_or("");
  if (named.empty()) return args;
  struct stat info{};
  const bool there = ::stat(named.c_str(), &info) == 0;
  if (there && S_ISDIR(info.st_mode)) {
    args.flags["--project"] = named;
  } else {
    say(fmt::format("no project is shown: PROJECT_DIR is '{}', which {}", Printable(named),
                    there ? "is no directory" : "cannot be looked at or does not exist"));
  }
  return args;
}

config::DaemonConfig ReadDaemon(const ParsedArgs& args) {
  const config::Variables variables = service::ReadVariables();
  const auto config = config::Load(config::ChooseFile(args.Get("--config"), variables), variables,
                                   service::PresetNames());
  return config ? config->daemon : config::DaemonConfig{};
}

Result<void> RefuseHttp(const config::DaemonConfig& daemon, std::string_view program) {
  if (daemon.transport != "http") return {};
  return Fail(Errc::kFailedPrecondition,
              fmt::format("the configuration has transport = \"http\" in [daemon], and {} serves "
                          "standard input and output alone",
                          program),
              "start it with --stdio, or start 'igloo mcp', which serves HTTP");
}

Result<config::Config> ReadConfig(const ParsedArgs& args, ProjectUse use, Console& console) {
  const config::Variables variables = service::ReadVariables();
  const auto presets = service::PresetNames();
  IGLOO_ASSIGN(
      config::Config config,
      config::Load(config::ChooseFile(args.Get("--config"), variables), variables, presets));
  if (config.out_of_reach) {
    console.Note("note: '" + Printable(config.file) + "' cannot be looked at: all is default");
  }
  IGLOO_TRY(TakeProjectFlags(args, config));
  if (config.project.path.empty()) {
    config.project = {};
    service::AddFlakes(config);
    return config;
  }
  if (use == ProjectUse::kShow) IGLOO_TRY(CheckShownProject(config));
  IGLOO_ASSIGN(config, AddProjectFile(std::move(config), variables, presets, console));
  service::AddFlakes(config);
  return config;
}

}  // namespace igloo::cli
