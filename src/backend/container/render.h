#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/error.h"
#include "sandbox/plan.h"

namespace igloo::backend::container {

/// A command of systemd-nspawn, with all variables that it gets.
struct Command {
  std::vector<std::string> env = {};
  std::vector<std::string> argv = {};  ///< the first word is the program's path
  bool operator==(const Command&) const = default;
};

/// What differs from container to container.
struct Instance {
  std::string machine = {};    ///< a name that no other machine has
  std::uint32_t first_id = 0;  ///< the host's id of the container's root
};

/// systemd-nspawn makes the namespaces, the ids, the capabilities and its own filter. In them
/// igloo-container does the steps of the plan, and goes on as igloo-init. What a container cannot
/// do is refused, not dropped.
Result<Command> Render(const sandbox::Plan& plan, const Instance& instance);

/// For people: the command as a shell would take it, and below it what is done inside.
std::string ToShell(const Command& command, const sandbox::Plan& plan);

}  // namespace igloo::backend::container
