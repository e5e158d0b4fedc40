#pragma once

#include <functional>
#include <string>
#include <vector>

#include "agent/registry.h"
#include "cli/console.h"

namespace igloo::cli {

/// A box that is to have a terminal of igloo's own (agent::TmuxTerminal).
struct TmuxLaunch {
  std::string name = {};  ///< of the box, as it was wished
  agent::BoxRegistry::Name how = agent::BoxRegistry::Name::kOrNext;
  /// The command that runs the box under this name, without a question.
  std::function<std::vector<std::string>(const std::string& name)> command = {};
  bool show = true;  ///< false: it stays in the background
};

/// Starts it, shows it, and says how it ended: the exit code of its program, or 0 if it goes on.
Result<int> StartInTmux(const TmuxLaunch& launch, Console& console);

/// Shows the terminal of a box again, with the same result. Says how one ended that nobody saw.
Result<int> AttachToBox(const std::string& name, Console& console);

/// Removes the terminal of a box that has ended, if there is one: whether there was.
Result<bool> ForgetEnded(const agent::BoxRegistry& boxes, const std::string& name);

/// Boxes that have ended in terminals of igloo's own, and that nobody has seen yet. Empty without
/// tmux.
struct EndedBox {
  std::string name = {};
  int exit_code = 0;
};
std::vector<EndedBox> FindEnded(const agent::BoxRegistry& boxes);

}  // namespace igloo::cli
