#include "bench/output.h"

#include <unistd.h>

#include <array>

#include "base/file.h"
#include "bench/memory.h"

namespace igloo::bench {

Result<OutputRun> RunOutput(const Command& command) {
  IGLOO_ASSIGN(Process process, Process::Start(command));
  std::array<char, 64U << 10> buffer;
  std::uint64_t total = 0;
  while (total < kOutputBytes) {
    const ssize_t count = ::read(process.output(), buffer.data(), buffer.size());
    if (count <= 0) break;
    total += static_cast<std::uint64_t>(count);
  }
  // All is here, so whoever passed it on has seen its worst but has not ended yet. What wait4
  // tells would be this process's own size where that was larger, as the start is a vfork.
  const auto status =
      ReadFile("/proc/" + std::to_string(process.pid()) + "/status", 1U << 16).value_or("");
  OutputRun out{.peak_kib = KilobytesOf(status, "VmHWM").value_or(0)};
  IGLOO_ASSIGN(const ProcessRun run, process.Finish());
  if (total < kOutputBytes) return Fail(Errc::kProtocol, "output is missing");
  out.micros = run.micros();
  return out;
}

}  // namespace igloo::bench
