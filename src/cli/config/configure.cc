#include "cli/config/configure.h"

#include "cli/config/settings.h"
#include "cli/env/build_for_use.h"
#include "cli/mcp/serve.h"
#include "cli/net/network_options.h"
#include "cli/options.h"
#include "config/request.h"
#include "service/caller.h"
#include "service/environments.h"
#include "service/flakes.h"

namespace igloo::cli {
namespace {

/// A plan that is shown may be shown to anybody, and is the same every time.
Result<void> Complete(const config::Config& config, const config::Configured& configured,
                      Inherit inherit, environment::RunRequest& request) {
  if (inherit == Inherit::kValues) {
    const config::Caller caller = service::TheCaller();
    return config::Complete(config, configured, caller.variable, config::Secrets(caller.secret),
                            request);
  }
  const config::Caller caller = service::NamesOfCaller();
  return config::Complete(config, configured, caller.variable,
                          config::Secrets(caller.secret, service::ShownPlaceholder), request);
}

}  // namespace

Result<config::Configured> Configure(const ParsedArgs& args, Inherit inherit,
                                     environment::RunRequest& request, Console& console) {
  const auto artifact = args.Get("--artifact");
  // An artifact is for any project, and its users name theirs with a variable.
  const ParsedArgs named =
      artifact ? WithNamedProject(args, [&](std::string_view note) { console.Note(note); }) : args;
  IGLOO_ASSIGN(config::Config config, ReadConfig(named, ProjectUse::kShow, console));
  std::string name = args.Get("--env").value_or("");
  if (artifact) {
    IGLOO_ASSIGN(name, service::UseArtifact(*artifact, config));
  }
  // A plan that is only shown is no reason to build anything.
  if (inherit == Inherit::kValues) {
    IGLOO_TRY(BuildForUse(config, name, console));
  }
  IGLOO_ASSIGN(config::Configured configured, service::ReadEnvironment(config, name));
  if (const auto backend = args.Get("--backend")) {
    IGLOO_ASSIGN(configured.backend, wall::Choose(*backend));
  }
  if (const auto as = args.Get("--as")) {
    if (const wall::Wall* const shown = wall::FindShownAs(*as)) configured.backend = shown;
  }
  IGLOO_TRY(TakeNetwork(args, config, configured));
  IGLOO_TRY(Complete(config, configured, inherit, request));
  return configured;
}

}  // namespace igloo::cli
