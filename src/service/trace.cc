#include "service/trace.h"

#include <fmt/format.h>

#include "base/text.h"

namespace igloo::service {

void Trace::Take(const Result<Finished>& finished) {
  if (!finished) {
    verdict = "failed";
    error = finished.error().what;
    return;
  }
  const session::RunResult& run = finished->run;
  verdict = session::Name(run.verdict);
  exit_code = run.exit_code;
  queued_micros = finished->queued_micros;
  run_micros = static_cast<std::int64_t>(run.usage.wall_micros);
  cpu_micros = run.usage.cpu_micros;
  peak_kib = run.usage.peak_kib;
  output_bytes = run.output.total() + run.error.total();
}

std::string CallLine(const Trace& trace) {
  std::string line =
      fmt::format("call of '{}' in '{}'", Printable(trace.tool), Printable(trace.environment));
  if (!trace.session.empty()) line += fmt::format(", session '{}'", Printable(trace.session));
  line += fmt::format(": {}", trace.verdict);
  if (trace.exit_code) line += fmt::format(", exit code {}", *trace.exit_code);
  line += fmt::format(", {} ms", trace.run_micros / 1000);
  return trace.error.empty() ? line : line + ": " + Printable(trace.error);
}

}  // namespace igloo::service
