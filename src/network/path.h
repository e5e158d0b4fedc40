#pragma once

#include <string>
#include <string_view>

#include "base/error.h"

namespace igloo::network {

/// A request's path (without its query) as rules compare it: what may be written with or without a
/// percent sign is written without. Fails with the reason for a path that two servers could read
/// differently: encoded dots, slashes, backslashes or control bytes, segments "." and "..", bytes
/// that are no UTF-8.
Result<std::string> CanonicalPath(std::string_view path);

}  // namespace igloo::network
