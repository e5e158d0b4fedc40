#pragma once

#include <span>
#include <string>

#include "cli/personalities/claude_sandbox_options.h"

namespace igloo::cli {

class Console;

/// `claude-sandbox words...`, or one of the other launchers, as its users know it: Claude Code in a
/// sandbox around a project, one for each project.
int ClaudeSandboxMain(const claude_sandbox::Launcher& launcher, std::span<const std::string> words,
                      Console& console);

}  // namespace igloo::cli
