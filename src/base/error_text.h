#pragma once

#include <string>

#include "base/error.h"

namespace igloo {

/// "what failed; what to do next", or only what failed when there is no advice: for logs, notes
/// and results, whose reader sees one line.
std::string InOneLine(const Error& error);

}  // namespace igloo
