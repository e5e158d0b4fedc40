#include "service/trace.h"

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

}  // namespace igloo::service
