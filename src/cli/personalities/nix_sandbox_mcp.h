#pragma once

#include <span>
#include <string>
#include <string_view>

namespace igloo::cli {

class Console;

/// The name of the link under which igloo is this program.
inline constexpr std::string_view kNixSandboxMcp = "nix-sandbox-mcp";

/// `nix-sandbox-mcp words...` as its users know it: a server with one tool, `run`.
int NixSandboxMcpMain(std::span<const std::string> words, Console& console);

}  // namespace igloo::cli
