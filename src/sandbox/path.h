#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace igloo::sandbox {

/// Checks a path inside the sandbox: absolute, no empty, '.' or '..' component, no NUL, not '/'.
Result<void> CheckTarget(std::string_view path);

/// "/a/b/c" -> "/a", "/a/b": every directory above a checked path.
std::vector<std::string> Ancestors(std::string_view path);

/// Whether `path` is `directory` or lies below it. Both are checked paths.
bool IsWithin(std::string_view path, std::string_view directory);

}  // namespace igloo::sandbox
