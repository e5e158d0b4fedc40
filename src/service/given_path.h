#pragma once

#include <string>

#include "base/error.h"

namespace igloo::service {

/// A path that stays in the directory it is relative to: no '..', no NUL, not absolute.
Result<void> CheckGivenPath(const std::string& path);

}  // namespace igloo::service
