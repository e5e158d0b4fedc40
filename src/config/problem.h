#pragma once

#include <string>

#include "base/error.h"
#include "config/value.h"

namespace igloo::config {

/// One thing that is wrong with a configuration file, and what would be right.
struct Problem {
  Position where = {};
  std::string what = {};
  std::string hint = {};
  bool operator==(const Problem&) const = default;
};

/// "FILE:LINE:COLUMN"; without a position only "FILE".
std::string Place(const std::string& file, const Position& where);

Error ToError(const std::string& file, const Problem& problem);

}  // namespace igloo::config
