#pragma once

#include <expected>
#include <string_view>

#include "config/problem.h"
#include "config/value.h"

namespace igloo::config {

/// The text of a TOML file as values. Stops at the first mistake, as TOML gives nothing to go on
/// with. Nesting is bounded, so that no file can exhaust the stack.
std::expected<Table, Problem> ParseToml(std::string_view text);

}  // namespace igloo::config
