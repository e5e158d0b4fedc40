#include "service/trace_record.h"

#include <chrono>

namespace igloo::service {

audit::Record RecordOf(const Trace& trace) {
  const auto millis = [](std::int64_t micros) { return static_cast<std::uint64_t>(micros) / 1000; };
  audit::Record record{.time = std::chrono::floor<std::chrono::milliseconds>(trace.came),
                       .tool = trace.tool,
                       .client = trace.client,
                       .environment = trace.environment,
                       .session = trace.session,
                       .verdict = trace.verdict,
                       .exit_code = trace.exit_code,
                       .duration_ms = millis(trace.run_micros),
                       .queued_ms = millis(trace.queued_micros),
                       .output_bytes = trace.output_bytes,
                       .error = trace.error};
  if (trace.exit_code) {
    record.cpu_ms = trace.cpu_micros / 1000;
    record.peak_memory_bytes = trace.peak_kib * 1024;
  }
  record.Describe(trace.code);
  return record;
}

}  // namespace igloo::service
