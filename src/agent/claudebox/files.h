#pragma once

// The files of claudebox: ~/.claudebox/config and env, a project's .claudebox and .claudebox.env,
// and ~/.claudebox/profiles/NAME.json. Read as text; nothing here opens anything.

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"

namespace igloo::agent::claudebox {

/// `key = value` lines. Of one key that cannot be repeated, the last counts.
struct Settings {
  std::optional<std::string> program = {};  ///< cmd
  std::vector<std::string> home = {};       ///< mount_home
  std::vector<std::string> path = {};       ///< path_add
  bool operator==(const Settings&) const = default;
};

/// What is said later is added, or beats what was said before.
void Add(const Settings& more, Settings& settings);

/// Fails with the line that is no `key = value`, or whose key is unknown.
Result<Settings> ParseSettings(std::string_view text, std::string_view file);

using Variables = std::vector<std::pair<std::string, std::string>>;

/// KEY=value lines; '#' begins a comment line. A value may stand in quotation marks.
Result<Variables> ParseVariables(std::string_view text, std::string_view file);

/// {"env": {"NAME": "value"} or ["NAME"], "mounts": ["SUBDIR"], "network": "none|inet|full"}
struct Profile {
  Variables set = {};
  std::vector<std::string> passed = {};  ///< names of the caller's variables
  std::vector<std::string> home = {};
  std::string network = {};  ///< empty: it says nothing
  bool operator==(const Profile&) const = default;
};
Result<Profile> ParseProfile(std::string_view text, std::string_view file);

}  // namespace igloo::agent::claudebox
