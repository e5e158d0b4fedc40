#include "bench/mcp_ready.h"

#include <fmt/format.h>

#include <chrono>
#include <thread>

#include "bench/mcp.h"
#include "bench/mcp_load.h"
#include "bench/samples.h"
#include "bench/stopwatch.h"

namespace igloo::bench {
namespace {

/// Between two calls: a model thinks longer, and whatever was taken is there again.
constexpr auto kPause = std::chrono::milliseconds(25);
/// Not counted: each that finds nothing ready makes the pool larger.
constexpr unsigned kFirst = 6;
constexpr double kTail = 10;

std::string Call(std::string_view arguments) {
  return McpRequest("1", "tools/call",
                    fmt::format(R"("name":"run","arguments":{{{}}})", arguments));
}

std::string InSession(unsigned number, std::string_view code) {
  return Call(fmt::format(R"("env":"python","session":"bench-{}","code":"{}")", number, code));
}

}  // namespace

std::string PythonRequest(std::string_view more) {
  return Call(fmt::format(R"json("env":"python","code":"print(1)"{}{})json",
                          more.empty() ? "" : ",", more));
}

Result<double> TimeCall(McpClient& client, const std::string& line, std::string_view expected) {
  const Stopwatch watch;
  IGLOO_TRY(client.Send(line));
  for (;;) {
    IGLOO_ASSIGN(const std::string heard, client.Hear());
    const double micros = watch.micros();
    const auto answer = ReadAnswer(heard);
    if (!answer) continue;
    if (answer->fine && heard.contains(expected)) return micros;
    return Fail(Errc::kProtocol, "the server answered: " + heard.substr(0, 300));
  }
}

Result<double> OpenSession(McpClient& client) {
  IGLOO_ASSIGN(const double micros,
               TimeCall(client, PythonRequest(R"("session":"bench")"), "1\\n"));
  IGLOO_TRY(TimeCall(client, Call(R"("session":"bench","session_action":"close")"), "closed"));
  return micros;
}

Result<void> MeasureTail(const Command& server, unsigned calls, Figures& figures) {
  IGLOO_ASSIGN(McpClient client, McpClient::Start(server));
  IGLOO_TRY(client.Ask(McpRequest("1", "server/discover")));
  Samples samples;
  unsigned noisy = 0;
  for (unsigned i = 0; i < kFirst + calls; ++i) {
    std::this_thread::sleep_for(kPause);
    const bool quiet = WaitUntilQuiet();
    IGLOO_ASSIGN(const double micros, TimeCall(client, PythonRequest(), "1\\n"));
    if (i < kFirst) continue;
    samples.Add(micros / 1000);
    if (!quiet) ++noisy;
  }
  const std::string of = fmt::format("MCP fresh Python, {} calls, ", calls);
  figures.Tell("mcp_fresh_p50", of + "p50 ms", samples.median());
  figures.Tell("mcp_fresh_p99", of + "p99 ms", samples.Quantile(0.99));
  figures.Tell("mcp_fresh_tail", of + "p99 of p50", samples.Quantile(0.99) / samples.median(),
               kTail);
  figures.Tell("mcp_fresh_noisy", of + "on a busy machine", noisy);
  return {};
}

Result<void> MeasureSessions(const Command& server, unsigned count, Figures& figures) {
  IGLOO_ASSIGN(McpClient client, McpClient::Start(server));
  IGLOO_TRY(client.Ask(McpRequest("1", "server/discover")));
  IGLOO_TRY(TimeCall(client, PythonRequest(), "1\\n"));
  IGLOO_ASSIGN(const Memory before, MemoryOf(client.pid()));
  Samples opened;
  Samples called;
  for (unsigned i = 0; i < count; ++i) {
    IGLOO_ASSIGN(const double micros,
                 TimeCall(client, InSession(i, fmt::format("x = {}; print(x)", i)), "\\n"));
    opened.Add(micros / 1000);
  }
  for (unsigned i = 0; i < count; ++i) {
    IGLOO_ASSIGN(const double micros,
                 TimeCall(client, InSession(i, "print('I am', x)"), fmt::format("I am {}\\n", i)));
    called.Add(micros / 1000);
  }
  IGLOO_ASSIGN(const Memory with, MemoryOf(client.pid()));
  const std::string of = fmt::format("MCP server, {} sessions at once, ", count);
  figures.Tell("mcp_sessions_open", of + "p50 ms to open", opened.median());
  figures.Tell("mcp_sessions_call", of + "p50 ms of a call", called.median());
  figures.Tell("mcp_sessions_call_p99", of + "p99 ms of a call", called.Quantile(0.99));
  figures.Tell("mcp_sessions_rss", of + "MiB resident", with.resident);
  figures.Tell("mcp_sessions_each", of + "KiB of it each",
               (with.resident - before.resident) * 1024 / count);
  return {};
}

}  // namespace igloo::bench
