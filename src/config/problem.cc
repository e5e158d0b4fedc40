#include "config/problem.h"

#include <fmt/format.h>

namespace igloo::config {

std::string Place(const std::string& file, const Position& where) {
  return where.line == 0 ? file : fmt::format("{}:{}:{}", file, where.line, where.column);
}

Error ToError(const std::string& file, const Problem& problem) {
  return {Errc::kInvalidArgument, Place(file, problem.where) + ": " + problem.what, problem.hint,
          0};
}

}  // namespace igloo::config
