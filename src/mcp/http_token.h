#pragma once

#include <string>
#include <vector>

#include "base/error.h"

namespace igloo::mcp {

/// A token and the name of those who know it.
struct HttpToken {
  std::string label = {};  ///< a-z, 0-9, '-' and '_'; empty if there is only one token
  std::string token = {};
  bool operator==(const HttpToken&) const = default;
};

/// The tokens in the file `path`, one a line: `TOKEN` or `LABEL TOKEN`; lines that begin with '#'
/// are comments. One of several without a label gets the first digits of its SHA-256. If there is
/// no file, one is made with a new token; of several that make it at the same moment all get the
/// same. Fails when anybody but this user could read it or put another in its place, and never
/// follows a link. The directory must exist.
Result<std::vector<HttpToken>> ReadOrMakeTokens(const std::string& path);

}  // namespace igloo::mcp
