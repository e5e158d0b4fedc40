#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "cli/args.h"
#include "config/config.h"

namespace igloo::cli {

/// What --tools says, if it is there.
Result<std::optional<config::Tools>> ToolsFlag(const ParsedArgs& args);

/// Fails when one of `flags` is there, which `whose` ("the server") does not understand.
Result<void> RefuseFlags(const ParsedArgs& args, std::span<const std::string_view> flags,
                         std::string_view whose, std::string hint);

/// `igloo mcp` without a word: the server itself.
Result<int> ServeMcp(const ParsedArgs& args, Console& console);

}  // namespace igloo::cli
