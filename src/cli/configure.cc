#include "cli/configure.h"

#include <cstdlib>

#include "cli/environments.h"
#include "cli/options.h"
#include "cli/settings.h"

namespace igloo::cli {
namespace {

/// What the file sets, and over it what the caller has of those that it names.
std::map<std::string, std::string> VariablesFor(const config::Configured& configured,
                                                Inherit inherit) {
  std::map<std::string, std::string> variables = configured.variables;
  for (const std::string& name : configured.inherit) {
    const char* value = std::getenv(name.c_str());
    if (value == nullptr) continue;
    // A plan that is shown may be shown to anybody.
    variables[name] = inherit == Inherit::kValues ? value : "(yours)";
  }
  return variables;
}

/// A limit that somebody asked for is kept or refused, never dropped.
Result<void> CheckLimits(const config::Configured& configured) {
  const bool too_fine =
      configured.backend == config::Backend::kBubblewrap && configured.limits.disk_files;
  if (!too_fine) return {};
  return Fail(Errc::kFailedPrecondition,
              "the configuration limits 'disk_files' of environment '" +
                  configured.environment.name + "', which bubblewrap cannot do",
              "use the backend jail, or leave 'disk_files' out");
}

}  // namespace

Result<config::Configured> Configure(const ParsedArgs& args, Inherit inherit,
                                     environment::RunRequest& request, Console& console) {
  const auto name = args.Get("--env");
  IGLOO_ASSIGN(const config::Config config, ReadConfig(args, ProjectUse::kShow, console));
  IGLOO_ASSIGN(config::Configured configured, ReadEnvironment(config, name.value_or("")));
  if (const auto backend = args.Get("--backend")) {
    IGLOO_ASSIGN(configured.backend, ParseBackend(*backend));
  }
  if (args.Has("--as")) configured.backend = config::Backend::kBubblewrap;
  IGLOO_TRY(CheckLimits(configured));
  request.variables = VariablesFor(configured, inherit);
  if (!config.project.path.empty()) {
    request.project = {.path = config.project.path, .mode = config.project.mode};
  }
  request.fine_memory_limits = configured.backend == config::Backend::kJail;
  request.views = request.fine_memory_limits;
  return configured;
}

}  // namespace igloo::cli
