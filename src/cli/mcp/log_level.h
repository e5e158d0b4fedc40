#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "config/config.h"

namespace igloo::cli {

/// How much a server says on standard error; each level includes those above it.
enum class LogLevel { kOff, kError, kWarn, kInfo, kDebug, kTrace };

/// "warn", in any case of its letters; nothing for another word.
std::optional<LogLevel> FindLogLevel(std::string_view word);

/// What a filter such as "warn,nix_sandbox_mcp=debug,hyper=off" says about `program`: the last
/// directive that is for it or for everybody counts. Nothing when there is none.
std::optional<LogLevel> FilterLevel(std::string_view filter, std::string_view program);

/// What [daemon] wants.
LogLevel WantedLevel(const config::DaemonConfig& daemon);

}  // namespace igloo::cli
