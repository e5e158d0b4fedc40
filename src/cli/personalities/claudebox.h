#pragma once

#include <span>
#include <string>
#include <string_view>

namespace igloo::cli {

class Console;

/// The name of the link under which igloo is this program.
inline constexpr std::string_view kClaudebox = "claudebox";

/// `claudebox words...` as its users know it: Claude Code in a box around the directory where it is
/// started.
int ClaudeboxMain(std::span<const std::string> words, Console& console);

}  // namespace igloo::cli
