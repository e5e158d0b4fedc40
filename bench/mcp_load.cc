#include "bench/mcp_load.h"

#include <fcntl.h>
#include <fmt/format.h>

#include <chrono>
#include <thread>

#include "base/file.h"
#include "bench/memory.h"

namespace igloo::bench {
namespace {

using Clock = std::chrono::steady_clock;

constexpr double kKibPerMib = 1024;
constexpr double kIdleMib = 8;
/// A client asks again after its user or its model has thought a little.
constexpr auto kThought = std::chrono::milliseconds(2);
/// More than what is kept of any run, and much more.
constexpr unsigned kMuchMegabytes = 20, kLargeMegabytes = 100;
/// A tenth is what pages of the allocator come and go by.
constexpr double kAgain = 1.1;
constexpr double kLargeOfMuch = 1.25;
constexpr double kQueuedKib = 64;
constexpr double kOthersMillis = 50;

std::string RunRequest(std::string_view id, std::string_view code) {
  return McpRequest(id, "tools/call",
                    fmt::format(R"("name":"run","arguments":{{"env":"shell","code":"{}"}})", code));
}

Result<void> RunOnce(McpClient& client, std::string_view code) {
  IGLOO_TRY(client.Send(RunRequest("1", code)));
  for (;;) {
    IGLOO_ASSIGN(const std::string line, client.Hear());
    const auto answer = ReadAnswer(line);
    if (!answer) continue;
    if (answer->fine) return {};
    return Fail(Errc::kProtocol, "a run failed: " + line.substr(0, 300));
  }
}

}  // namespace

Result<Memory> MemoryOf(pid_t pid) {
  const std::string process = "/proc/" + std::to_string(pid);
  IGLOO_ASSIGN(const std::string status, ReadFile(process + "/status", 1U << 16));
  IGLOO_ASSIGN(const std::string rollup, ReadFile(process + "/smaps_rollup", 1U << 16));
  return Memory{.resident = KilobytesOf(status, "VmRSS").value_or(0) / kKibPerMib,
                .peak = KilobytesOf(status, "VmHWM").value_or(0) / kKibPerMib,
                .share = KilobytesOf(rollup, "Pss").value_or(0) / kKibPerMib};
}

Result<void> ForgetPeak(pid_t pid) {
  const std::string path = "/proc/" + std::to_string(pid) + "/clear_refs";
  const UniqueFd fd(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
  if (!fd) {
    const int saved_errno = errno;
    return FailSys(saved_errno, "cannot open '" + path + "'");
  }
  return WriteAll(fd.get(), "5");
}

Result<McpLoad::Wave> McpLoad::Surge(McpClient& client, unsigned calls) {
  IGLOO_TRY(ForgetPeak(client.pid()));
  Wave wave;
  for (unsigned i = 0; i < calls; ++i) {
    IGLOO_TRY(client.Send(RunRequest(std::to_string(i + 1), "true")));
  }
  std::set<std::string> answered;
  for (unsigned turn = 0; answered.size() < calls; ++turn) {
    const std::string id = fmt::format("\"other-{}\"", turn);
    const auto begin = Clock::now();
    // One of each era.
    IGLOO_TRY(client.Send(turn % 2 == 0
                              ? McpRequest(id, "tools/list")
                              : fmt::format(R"({{"jsonrpc":"2.0","id":{},"method":"ping"}})", id)));
    for (bool waiting = true; waiting;) {
      IGLOO_ASSIGN(const std::string line, client.Hear());
      const auto answer = ReadAnswer(line);
      if (!answer) continue;
      waiting = answer->id != id;
      if (waiting && answered.insert(answer->id).second && !answer->fine) ++wave.refused;
    }
    wave.others.Add(std::chrono::duration<double, std::milli>(Clock::now() - begin).count());
    std::this_thread::sleep_for(kThought);
  }
  IGLOO_ASSIGN(const Memory memory, MemoryOf(client.pid()));
  wave.peak = memory.peak;
  return wave;
}

Result<double> McpLoad::Output(McpClient& client, unsigned megabytes) {
  IGLOO_ASSIGN(const Memory before, MemoryOf(client.pid()));
  IGLOO_TRY(ForgetPeak(client.pid()));
  IGLOO_TRY(RunOnce(
      client, fmt::format("head -c {}000000 /dev/zero | tr '\\\\0' x | fold -w 99", megabytes)));
  IGLOO_ASSIGN(const Memory after, MemoryOf(client.pid()));
  return after.peak - before.resident;
}

Result<void> McpLoad::Run(unsigned calls) {
  IGLOO_ASSIGN(McpClient client, McpClient::Start(command_));
  IGLOO_TRY(client.Ask(McpRequest("1", "server/discover")));
  IGLOO_TRY(client.Ask(McpRequest("1", "tools/list")));
  IGLOO_ASSIGN(const Memory idle, MemoryOf(client.pid()));
  figures_.Tell("mcp_idle_rss", "MCP server, idle, MiB resident", idle.resident, kIdleMib);
  figures_.Tell("mcp_idle_pss", "MCP server, idle, MiB its own (PSS)", idle.share);
  IGLOO_TRY(RunOnce(client, "true"));  // templates and the like
  IGLOO_ASSIGN(const double much, Output(client, kMuchMegabytes));
  IGLOO_ASSIGN(const double large, Output(client, kLargeMegabytes));
  const std::string printing = fmt::format("MCP server, {} MB of output, ", kLargeMegabytes);
  figures_.Tell("mcp_output_peak", printing + "MiB more", large);
  figures_.Tell("mcp_output_growth", printing + fmt::format("of {} MB's", kMuchMegabytes),
                large / much, kLargeOfMuch);
  IGLOO_ASSIGN(const Memory before, MemoryOf(client.pid()));
  IGLOO_ASSIGN(const Wave first, Surge(client, calls));
  IGLOO_ASSIGN(const Wave second, Surge(client, calls));
  const std::string with = fmt::format("MCP server, {} calls at once, ", calls);
  figures_.Tell("mcp_queue_refused", with + "refused", first.refused + second.refused, 0);
  figures_.Tell("mcp_queue_call", with + "KiB per call",
                (first.peak - before.resident) * kKibPerMib / calls, kQueuedKib);
  figures_.Tell("mcp_queue_again", with + "again, of the first time", second.peak / first.peak,
                kAgain);
  figures_.Tell("mcp_queue_other_p50", with + "others' p50 ms", second.others.median());
  figures_.Tell("mcp_queue_other_p99", with + "others' p99 ms", second.others.Quantile(0.99),
                kOthersMillis);
  return {};
}

}  // namespace igloo::bench
