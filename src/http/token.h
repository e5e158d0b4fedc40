#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace igloo::http {

/// A token and the name of those who know it.
struct Token {
  std::string label = {};  ///< a-z, 0-9, '-' and '_'; empty if there is only one token
  std::string token = {};
  bool operator==(const Token&) const = default;
};

/// The tokens in the file `path`, one a line: `TOKEN` or `LABEL TOKEN`; lines that begin with '#'
/// are comments. One of several without a label gets the first digits of its SHA-256. If there is
/// no file, one is made with a new token; of several that make it at the same moment all get the
/// same. Fails when anybody but this user could read it or put another in its place, and never
/// follows a link. The directory must exist.
Result<std::vector<Token>> ReadOrMakeTokens(const std::string& path);

/// Whether a request's Authorization is `Bearer` and this token. Compares in a time that does not
/// tell where the difference is.
bool TokenMatches(std::string_view authorization, std::string_view token);

}  // namespace igloo::http
