#pragma once

#include "audit/record.h"
#include "service/trace.h"

namespace igloo::service {

/// What is written down of one call of a tool.
audit::Record RecordOf(const Trace& trace);

}  // namespace igloo::service
