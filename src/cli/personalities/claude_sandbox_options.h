#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "wall/walls.h"

namespace igloo::cli::claude_sandbox {

/// One of the three launchers, by the link that it is called by.
struct Launcher {
  std::string_view link;
  std::string_view needs_root = {};  ///< the error for whoever is not root; empty: anybody may
};

/// Those that igloo stands in for: a row each, and the wall of the row in wall::kWalls that names
/// it.
std::span<const Launcher> Launchers();
/// nullptr: igloo is not called by such a name.
const Launcher* FindLauncher(std::string_view link);

/// What CLAUDE_SANDBOX_BACKEND says, in the words of the original.
std::string BackendWord(const Launcher& launcher);

/// The wall of a launcher. Fails if this igloo does not serve it, or if only root may start one.
Result<const wall::Wall*> WallOf(const Launcher& launcher, bool root,
                                 std::span<const wall::Wall> walls = wall::All());

/// The command line. What stands behind the project's directory is for the agent.
struct Options {
  bool shell = false, gh_token = false, minimal = false, no_network = false;
  bool tmux = false, enter = false, another = false, stop = false;
  bool dry_run = false, help = false;
  std::vector<std::string> reach = {};  ///< ports
  std::string project = ".";
  std::vector<std::string> rest = {};
  bool operator==(const Options&) const = default;
};

/// Fails with "Unknown option: WORD", as the original does, or if an option has no value.
Result<Options> ParseOptions(std::span<const std::string> words);

std::string Usage(const Launcher& launcher);

}  // namespace igloo::cli::claude_sandbox
