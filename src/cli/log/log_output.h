#pragma once

#include <string>

#include "audit/grant_log.h"
#include "audit/record.h"
#include "cli/console.h"
#include "network/control.h"

namespace igloo::cli {

/// One call in one line, in columns, with its time as local time. Whatever the log holds, nothing
/// in it reaches the terminal as it is.
std::string LogLine(const audit::Record& record, const Console& console);

/// Likewise for one decision about the network: what was tried, and the rule that allowed it or
/// would allow it.
std::string DecisionLine(const network::Record& record, const Console& console);

/// Likewise for what a box did with one of its grants.
std::string GrantLine(const audit::GrantUse& use, const Console& console);

}  // namespace igloo::cli
