#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "agent/state/guarded.h"
#include "base/error.h"

namespace igloo::agent {

// The files in a directory that a box fills as it likes. SECURITY: at any moment the box may put
// links, pipes or other directories in the place of what was looked at; nothing here leaves the
// directory, follows a link or waits.

/// Limits for what a box leaves; what is beyond them is not looked at.
inline constexpr std::size_t kMaxBoxFiles = 2000;
inline constexpr std::size_t kMaxBoxEntries = 100'000;
inline constexpr int kMaxBoxDepth = 24;

/// The paths (below `home`) of regular files that are the agent's, in order. Directories that the
/// host and the box share, or that concern the box alone, are left out.
Result<std::vector<std::string>> ListBoxFiles(const std::string& home, const AgentFiles& agent);

/// nullopt: there is no regular file.
Result<std::optional<std::string>> ReadBoxFile(const std::string& home, const std::string& path);

/// Puts `text` in the place of what the box's file says, all at once. Fails with
/// kFailedPrecondition, and changes nothing, if it does not say `expected` any more.
Result<void> WriteBoxFile(const std::string& home, const std::string& path,
                          const std::optional<std::string>& expected, std::string_view text);

}  // namespace igloo::agent
