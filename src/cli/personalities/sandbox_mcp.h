#pragma once

#include <span>
#include <string>
#include <string_view>

namespace igloo::cli {

class Console;

/// The name of the link under which igloo is this program.
inline constexpr std::string_view kSandboxMcp = "sandbox-mcp";

/// `sandbox-mcp words...` as its users know it: a server with one tool for each sandbox.
/// The exit code: 1 for what failed, 2 for words that it does not know.
int SandboxMcpMain(std::span<const std::string> words, Console& console);

}  // namespace igloo::cli
