#pragma once

#include <span>
#include <string>
#include <string_view>

#include "config/value.h"

namespace igloo::config {

/// Line and column of a byte of `text`.
Position PositionAt(std::string_view text, std::size_t offset);

/// Where the value behind `path` (keys, and decimal numbers for the items of lists) stands in a
/// valid JSON text: its key for a member, itself otherwise. What is not there has the position of
/// the innermost thing on the way that is.
Position FindInJson(std::string_view text, std::span<const std::string> path);

}  // namespace igloo::config
