#pragma once

#include <string>
#include <vector>

#include "agent/claudebox/files.h"
#include "base/error.h"
#include "cli/console.h"

namespace igloo::cli::claudebox {

/// ~/.claudebox
std::string OwnPlace();
std::string SettingsPath();
std::string VariablesPath();

/// What the files say, the user's own first, and what of that stands where.
struct FromFiles {
  agent::claudebox::Settings settings = {};
  agent::claudebox::Variables variables = {};
  std::vector<std::string> lines = {};  ///< "cmd = codex (~/.claudebox/config)"
};

/// Reads ~/.claudebox/config and env, then .claudebox and .claudebox.env in the root of the project
/// that `directory` lies in, if they are trusted.
Result<FromFiles> ReadFiles(const std::string& directory, Console& console);

/// The text of ~/.claudebox/profiles/NAME.json.
Result<std::string> ReadProfileText(const std::string& name);
std::string ProfilePath(const std::string& name);
std::vector<std::string> ProfileNames();

}  // namespace igloo::cli::claudebox
