#include "bench/memory.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <deque>
#include <filesystem>
#include <sstream>
#include <thread>

#include "base/file.h"
#include "bench/ready.h"

namespace igloo::bench {
namespace {

constexpr int kPatienceMillis = 30'000;
/// What the kernel's memory grows by is seen among all that the machine does, so it is asked
/// thrice.
constexpr unsigned kTimes = 3;
/// Network namespaces end behind their programs.
constexpr auto kAftermath = std::chrono::milliseconds(200);
constexpr std::size_t kProcFile = 1U << 20;

std::string ProcFile(const std::string& name) {
  return ReadFile("/proc/" + name, kProcFile).value_or("");
}

/// The children of all its threads: each thread has a list of its own.
std::vector<pid_t> ChildrenOf(pid_t pid) {
  std::vector<pid_t> found;
  std::error_code gone;
  const std::string tasks = "/proc/" + std::to_string(pid) + "/task";
  for (const auto& task : std::filesystem::directory_iterator(tasks, gone)) {
    std::istringstream children(
        ReadFile(task.path().string() + "/children", kProcFile).value_or(""));
    for (pid_t child = 0; children >> child;) found.push_back(child);
  }
  return found;
}

/// Everything below this process: orphans come to it, too (PR_SET_CHILD_SUBREAPER).
std::set<pid_t> Descendants() {
  std::set<pid_t> found;
  std::deque<pid_t> open = {::getpid()};
  while (!open.empty()) {
    for (const pid_t child : ChildrenOf(open.front())) {
      if (found.insert(child).second) open.push_back(child);
    }
    open.pop_front();
  }
  return found;
}

std::optional<double> PssOf(pid_t pid) {
  return KilobytesOf(ProcFile(std::to_string(pid) + "/smaps_rollup"), "Pss");
}

/// What is there at one moment.
struct Snapshot {
  std::set<pid_t> processes = Descendants();
  double kernel = KernelMemory(ProcFile("meminfo"));
};

void Compare(Idle& row, const Snapshot& before, unsigned count) {
  const Snapshot now;
  double pss = 0;
  bool complete = true;
  unsigned processes = 0;
  for (const pid_t pid : now.processes) {
    if (before.processes.contains(pid)) continue;
    ++processes;
    const auto kib = PssOf(pid);
    complete = complete && kib.has_value();
    pss += kib.value_or(0);
  }
  row.processes = static_cast<double>(processes) / count;
  if (complete) row.pss = pss / count;
  row.kernel = (now.kernel - before.kernel) / count;
}

/// It is up when a line comes back through it.
Result<void> Echo(Process& process) {
  IGLOO_TRY(WriteAll(process.input().get(), "up\n"));
  pollfd state{process.output(), POLLIN, 0};
  std::array<char, 16> answer{};
  if (::poll(&state, 1, kPatienceMillis) == 1 &&
      ::read(process.output(), answer.data(), answer.size()) > 0) {
    return {};
  }
  const auto ended = process.Finish();
  if (!ended) return std::unexpected(ended.error());
  return Fail(Errc::kTimeout, "the program inside does not answer");
}

Result<void> MeasurePeer(Idle& row, const Peer& peer, const std::string& program, Ground& ground,
                         unsigned count) {
  const Snapshot before;
  std::deque<Process> idle;
  for (unsigned i = 0; i < count; ++i) {
    IGLOO_ASSIGN(const Command command, peer.command(program, ground, {"/bin/cat"}));
    IGLOO_ASSIGN(Process process, Process::Start(command, Input::kPipe));
    IGLOO_TRY(Echo(idle.emplace_back(std::move(process))));
  }
  Compare(row, before, count);
  // End of input ends the program, and with it every kind of sandbox in its own good way.
  for (Process& process : idle) IGLOO_TRY(process.Finish());
  return {};
}

/// With a launcher of its own, so that launcher, template and waiting slots are in the sum.
Result<void> MeasurePrepared(Idle& row, const backend::Programs& programs, unsigned count) {
  IGLOO_ASSIGN(const sandbox::Plan plan, PlanFor("shell", {"/usr/bin/cat"}));
  const Snapshot before;
  LauncherRuns prepared(programs, backend::jail::Mode::kPrepared);
  return prepared.Idle(plan, count, [&] { Compare(row, before, count); });
}

Result<void> MeasureLanguage(Idle& row, const Language& language, const backend::Programs& programs,
                             unsigned count) {
  const Snapshot before;
  ReadyRuns runs(programs, language, ReadyRuns::Of::kPrograms, 0);
  return runs.Idle(count, [&] { Compare(row, before, count); });
}

}  // namespace

std::optional<double> KilobytesOf(const std::string& text, const std::string& key) {
  const std::size_t at = ("\n" + text).find("\n" + key + ":");
  if (at == std::string::npos) return std::nullopt;
  std::istringstream line(text.substr(at + key.size() + 1));
  double value = 0;
  if (!(line >> value)) return std::nullopt;
  return value;
}

double KernelMemory(const std::string& meminfo) {
  double sum = 0;
  for (const char* key : {"SUnreclaim", "KernelStack", "PageTables", "Percpu"}) {
    sum += KilobytesOf(meminfo, key).value_or(0);
  }
  return sum;
}

std::vector<Idle> MeasureIdle(Ground& ground, const backend::Programs& programs, unsigned count) {
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);
  std::vector<Idle> rows;
  const auto add = [&](std::string key, std::string name, const auto& measure) {
    Idle& row = rows.emplace_back(Idle{.key = std::move(key), .name = std::move(name)});
    Samples kernel;
    for (unsigned i = 0; i < kTimes && row.failure.empty(); ++i) {
      std::this_thread::sleep_for(kAftermath);
      if (const Result<void> done = measure(row); !done) row.failure = done.error().what;
      kernel.Add(row.kernel);
    }
    row.kernel = kernel.median();
  };
  add("prepared", "igloo, running launcher",
      [&](Idle& row) { return MeasurePrepared(row, programs, count); });
  for (const Peer& peer : Peers()) {
    const std::string program = FindProgram(peer, ground);
    if (program.empty()) continue;  // said where walls are listed
    add(std::string(peer.key), std::string(peer.name),
        [&](Idle& row) { return MeasurePeer(row, peer, program, ground, count); });
  }
  while (::waitpid(-1, nullptr, WNOHANG) > 0) {  // orphans of peers
  }
  ::prctl(PR_SET_CHILD_SUBREAPER, 0);
  return rows;
}

std::vector<Idle> MeasureReadyIdle(const backend::Programs& programs, unsigned count) {
  std::vector<Idle> rows;
  for (const Language& each : Languages()) {
    if (::access(each.program, X_OK) != 0) continue;
    Idle row{.key = "ready_" + std::string(each.key),
             .name = fmt::format("igloo, {} that is ready", each.name)};
    const auto done = MeasureLanguage(row, each, programs, count);
    if (!done) row.failure = done.error().what;
    rows.push_back(std::move(row));
  }
  return rows;
}

void JudgeReadyIdle(const std::vector<Idle>& rows, Figures& figures) {
  for (const Language& each : Languages()) {
    const auto row = std::ranges::find(rows, "ready_" + std::string(each.key), &Idle::key);
    if (row == rows.end() || !row->pss) continue;
    figures.Tell("idle_" + row->key, fmt::format("{} that is ready, MiB (PSS)", each.name),
                 *row->pss / 1024, each.idle_mib);
  }
}

}  // namespace igloo::bench
