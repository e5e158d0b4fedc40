#include "prove/policy.h"

#include <unistd.h>

#include "environment/host.h"
#include "environment/run_policy.h"

namespace igloo::prove {

bool OwnsProject(const wall::Capabilities& can) { return can.views || ::geteuid() != 0; }

Result<sandbox::Policy> PolicyFor(const wall::Capabilities& can, const std::string& project,
                                  std::vector<std::string> argv) {
  // The host's own shell, whatever the user made of that name.
  IGLOO_ASSIGN(const auto shell,
               environment::MakeHostEnvironment("shell", environment::ReadHostLayoutFor("shell")));
  const environment::RunRequest request{.what = environment::Program{std::move(argv)},
                                        .project = environment::Project{.path = project},
                                        .fine_memory_limits = can.fine_memory_limits,
                                        .views = can.views};
  IGLOO_ASSIGN(sandbox::Policy policy, environment::PolicyForRun(shell, request));
  if (!OwnsProject(can)) {
    // Most attacks do not need that: everybody may read the scene's project.
    for (sandbox::Entry& entry : policy.run) {
      if (auto* tree = std::get_if<sandbox::HostTree>(&entry)) tree->map_owner = false;
    }
  }
  return policy;
}

}  // namespace igloo::prove
