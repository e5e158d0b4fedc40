#pragma once

#include <expected>
#include <string>
#include <string_view>

#include "config/problem.h"
#include "config/schema.h"
#include "config/value.h"

namespace igloo::config {

/// What relative paths are relative to, and what "~/" is.
struct PathRoots {
  std::string directory = {};
  std::string home = {};  ///< empty: unknown
};

/// A value against its row: type, range, characters. Values of variables never stand in a problem.
std::expected<Checked, Problem> CheckValue(const Key& key, const Value& value,
                                           const PathRoots& roots);

/// Whether the value is the one that a file without the key has.
bool IsFallback(const Key& key, const Value& value);

/// A number written as TOML in the table, in the units of a Config.
std::uint64_t FallbackNumber(const Key& key);

}  // namespace igloo::config
