#pragma once

#include <expected>
#include <span>
#include <string>
#include <string_view>

#include "config/problem.h"
#include "config/schema.h"
#include "config/value.h"

namespace igloo::config {

/// What values are understood with.
struct CheckContext {
  std::string directory = {};  ///< what relative paths are relative to
  std::string home = {};       ///< what "~/" is; empty: unknown
  std::span<const wall::Wall> walls = wall::All();
};

/// A value against its row: type, range, characters. Values of variables never stand in a problem.
std::expected<Checked, Problem> CheckValue(const Key& key, const Value& value,
                                           const CheckContext& context);

/// Whether the value is the one that a file without the key has.
bool IsFallback(const Key& key, const Value& value);

/// A number written as TOML in the table, in the units of a Config.
std::uint64_t FallbackNumber(const Key& key);

}  // namespace igloo::config
