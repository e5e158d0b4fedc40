#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "config/config.h"
#include "config/problem.h"

namespace igloo::config {

struct DecodeOptions {
  std::string file = {};       ///< as errors name it
  std::string directory = {};  ///< absolute; paths in the file are relative to it
  std::string home = {};       ///< what "~/" is; empty: unknown
  Origin origin = Origin::kUser;
  /// Names of the environments that igloo brings along. Empty: they are not checked.
  std::span<const std::string_view> presets = {};
  std::span<const wall::Wall> walls = wall::All();  ///< that 'backend' can name
};

/// A file, understood as far as it goes, and all that is wrong with it in the order of its lines.
struct Decoded {
  Config config = {};
  std::vector<Problem> problems = {};
};

Decoded Decode(std::string_view text, const DecodeOptions& options);

/// The same for who needs all or nothing: the first problem as an error.
Result<Config> Parse(std::string_view text, const DecodeOptions& options);

/// The numbers in the table, for what no file limits.
Limits DefaultLimits();

/// Where aliases go round in a circle, if they do.
std::optional<Problem> FindAliasCycle(const Config& config);

}  // namespace igloo::config
