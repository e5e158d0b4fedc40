#pragma once

#include "cli/console.h"
#include "prove/report.h"

namespace igloo::cli {

/// The tables for people, what stands in the way of a proof, and which wall is recommended. `one`:
/// the user named the only wall that was tried.
void PrintReport(const prove::Report& report, bool one, Console& console);

}  // namespace igloo::cli
