#pragma once

#include <string>

#include "audit/record.h"
#include "cli/console.h"

namespace igloo::cli {

/// One call in one line, in columns, with its time as local time. Whatever the log holds, nothing
/// in it reaches the terminal as it is.
std::string LogLine(const audit::Record& record, const Console& console);

}  // namespace igloo::cli
