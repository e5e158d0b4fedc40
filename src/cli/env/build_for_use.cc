#include "cli/env/build_for_use.h"

#include "cli/progress.h"
#include "nix/build.h"
#include "service/flakes.h"

namespace igloo::cli {

Result<void> BuildForUse(const config::Config& config, std::string_view name, Console& console) {
  const auto flake = service::FindFlake(config, name);
  // What cannot be asked for at all says so when it is looked for.
  if (!flake || !flake->wanted) return {};
  IGLOO_ASSIGN(const nix::Settings settings, service::NixSettings(config));
  Progress progress(console, "building '" + flake->name + "'");
  const auto built = nix::Build(settings, *flake->wanted,
                                {.progress = [&](std::string_view line) { progress.Show(line); }});
  if (!built) return Wrap("building environment '" + flake->name + "'", built.error());
  return {};
}

}  // namespace igloo::cli
