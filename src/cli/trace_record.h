#pragma once

#include "audit/record.h"
#include "tools/contract.h"

namespace igloo::cli {

/// What is written down of one call of a tool.
audit::Record RecordOf(const service::Trace& trace);

}  // namespace igloo::cli
