#include "backend/container/render.h"

#include <fmt/format.h>

#include "backend/container/host_ids.h"
#include "base/text.h"
#include "container/place.h"

namespace igloo::backend::container {
namespace {

/// What igloo-init needs of the kernel and systemd-nspawn's own filter forbids. The code in the
/// sandbox is behind igloo-init's filter, too, which forbids it these.
constexpr std::string_view kNeeded =
    "@keyring landlock_create_ruleset landlock_add_rule landlock_restrict_self";

}  // namespace

Result<Command> Render(const sandbox::Plan& plan, const Instance& instance) {
  const sandbox::Identity& user = plan.identity;
  if (user.uid == 0 || user.gid == 0 || user.uid >= kIdsOfContainer ||
      user.gid >= kIdsOfContainer) {
    return Fail(Errc::kInvalidArgument,
                fmt::format("a container has no user {}:{} for code", user.uid, user.gid),
                fmt::format("ids from 1 to {} can be had", kIdsOfContainer - 1));
  }
  Command command;
  // The one hierarchy that igloo-container shows it, and none that it would mount itself.
  command.env = {"SYSTEMD_NSPAWN_UNIFIED_HIERARCHY=1", "SYSTEMD_LOG_TARGET=console",
                 "SYSTEMD_LOG_COLOR=0"};
  command.argv = {
      igloo::container::kEngine,
      "--quiet",
      // Nothing of the machine's configuration changes the wall.
      "--settings=no",
      // igloo's own cgroup holds the limits; a unit of systemd's would be another one. Both words
      // together also mean that nobody has to be asked, so this works without systemd.
      "--register=no",
      "--keep-unit",
      "--machine=" + instance.machine,
      std::string("--directory=") + igloo::container::kRoot,
      fmt::format("--private-users={}:{}", instance.first_id, kIdsOfContainer),
      "--private-users-ownership=off",
      "--no-new-privileges=yes",
      fmt::format("--system-call-filter={}", kNeeded),
      "--console=pipe",
      "--link-journal=no",
      "--resolv-conf=off",
      "--timezone=off",
  };
  if (!std::holds_alternative<sandbox::HostNetwork>(plan.network)) {
    command.argv.emplace_back("--private-network");
  }
  command.argv.emplace_back("--");
  command.argv.emplace_back(igloo::container::kProgram);
  return command;
}

std::string ToShell(const Command& command, const sandbox::Plan& plan) {
  std::string out =
      "# igloo-container starts this in a mount namespace of its own, where /run and /tmp are\n"
      "# empty memory, so the root below is nobody else's and leaves nothing behind.\n";
  for (const std::string& variable : command.env) out += variable + " ";
  for (std::size_t i = 0; i < command.argv.size(); ++i) {
    const std::string& word = command.argv[i];
    if (i > 0) out += word.starts_with("--") ? " \\\n  " : " ";
    out += ShellQuote(word);
  }
  out +=
      "\n# Inside, as the container's first process, igloo-container does the steps of the plan:\n";
  for (const auto* steps : {&plan.environment, &plan.fresh, &plan.run}) {
    for (const sandbox::Step& step : *steps) {
      out += "#   " + sandbox::DescribeStep(step) + "\n";
    }
  }
  return out;
}

}  // namespace igloo::backend::container
