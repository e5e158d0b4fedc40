#pragma once

#include <optional>
#include <string_view>

#include "config/value.h"

namespace igloo::config {

inline constexpr int kMaxKeyParts = 16;

/// Where a dotted key (a.b.c...) has more than kMaxKeyParts parts.
///
/// SECURITY: the parser bounds nested arrays and inline tables but not dotted keys: a line of a
/// million dots becomes a million tables in each other, and taking them down again recurses until
/// the stack ends.
std::optional<Position> FindDeepKey(std::string_view text);

/// Where a character beyond ASCII stands that is in no text and no comment: TOML has none there,
/// and the parser's debug build gives up at some of them instead of saying so.
std::optional<Position> FindStrayCharacter(std::string_view text);

}  // namespace igloo::config
