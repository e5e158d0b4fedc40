#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <numeric>
#include <optional>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "base/file.h"
#include "bench/candidates.h"
#include "bench/mcp.h"
#include "bench/network.h"
#include "bench/report.h"
#include "cli/console.h"

namespace igloo::bench {
namespace {

constexpr const char* kUsage =
    "igloo-bench - how fast igloo starts sandboxes, beside fork + exec, bwrap and other peers\n\n"
    "  --rounds N   how often each candidate is measured (default 40)\n"
    "  --quick      8 rounds, and short ones of all else\n"
    "  --only KEYS  only these candidates (keys as in the JSON, with commas), and T and bwrap;\n"
    "               'sustained' for two workers without a pause, 'mcp' for the MCP server,\n"
    "               'ready' for interpreters that wait ready, 'ready_mcp' for these through it,\n"
    "               'network' for igloo-proxy, 'boxes' for boxes around a project\n"
    "  --peers DIR  where bench/install-peers put peers from npm\n"
    "  --mcp WORDS  the command of an MCP server to measure instead of igloo's (blanks between)\n"
    "  --json FILE  write the results there, too\n";

struct Options {
  unsigned rounds = 40;
  Windows windows = {};
  unsigned idle = 16;
  unsigned calls = 1000;  ///< at once, of the MCP server
  unsigned ready = 12;    ///< interpreters that wait at once, for their memory
  unsigned fresh = 300;   ///< calls of the MCP server one after the other
  unsigned sessions = 200;
  unsigned connections = 1000;  ///< idle, through igloo-proxy
  std::string only = {}, json = {}, peers = {};
  Words mcp = {};
  bool help = false;
};

Result<Options> Parse(const std::vector<std::string>& words) {
  Options options;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string& word = words[i];
    if (word == "--help") {
      options.help = true;
    } else if (word == "--quick") {
      options.rounds = 8;
      options.windows = {.count = 3, .millis = 500};
      options.idle = 4;
      options.calls = 100;
      options.fresh = 60;
      options.sessions = 40;
    } else if (i + 1 == words.size()) {
      return Fail(Errc::kInvalidArgument, "'" + word + "' is unknown or needs a value", kUsage);
    } else if (word == "--rounds") {
      const std::string& text = words[++i];
      const char* end = text.data() + text.size();
      const auto parsed = std::from_chars(text.data(), end, options.rounds);
      if (parsed.ptr != end || options.rounds == 0 || options.rounds > 100'000) {
        return Fail(Errc::kInvalidArgument, "'" + text + "' is not a number of rounds");
      }
    } else if (word == "--only") {
      options.only = words[++i];
    } else if (word == "--json") {
      options.json = words[++i];
    } else if (word == "--peers") {
      options.peers = words[++i];
    } else if (word == "--mcp") {
      std::istringstream command(words[++i]);
      for (std::string each; command >> each;) options.mcp.push_back(each);
    } else {
      return Fail(Errc::kInvalidArgument, "there is no option '" + word + "'", kUsage);
    }
  }
  return options;
}

bool Named(std::string_view key, const std::string& only) {
  return ("," + only + ",").find("," + std::string(key) + ",") != std::string::npos;
}

/// Interpreters that are ready, and what they are compared with.
bool IsReady(std::string_view key) {
  constexpr std::array kEndings = {"python", "bash", "node"};
  return key.starts_with("session_") || key.starts_with("fork_") ||
         ((key.starts_with("ready_") || key.starts_with("long_ready_") ||
           key.starts_with("bwrap_")) &&
          std::ranges::any_of(kEndings, [&](auto ending) { return key.ends_with(ending); }));
}

bool IsNetwork(std::string_view key) {
  return key.starts_with("net_") || key == "one_shot_allow" || key == "one_shot";
}

bool IsBox(std::string_view key) {
  return key == "box" || key.starts_with("box_") || key.starts_with("loop_");
}

bool Wanted(const Candidate& candidate, const std::string& only) {
  const bool sustained = candidate.key == "one_shot" || candidate.key == "bwrap_python";
  return only.empty() || candidate.key == "T" || candidate.key == "bwrap" ||
         (sustained && Named("sustained", only)) || Named(candidate.key, only) ||
         (candidate.key.starts_with("mcp_") && Named("mcp", only)) ||
         (IsNetwork(candidate.key) && Named("network", only)) ||
         (IsBox(candidate.key) && Named("boxes", only)) ||
         (IsReady(candidate.key) && Named("ready", only));
}

/// One sample; a candidate that failed once is not tried again.
void Measure(Candidate& candidate, Conditions& conditions) {
  if (!candidate.failure.empty()) return;
  const auto once = [&]() -> std::optional<double> {
    const Result<double> micros = candidate.once();
    if (micros) return *micros;
    candidate.failure = micros.error().what;
    return std::nullopt;
  };
  if (candidate.one_of_many && !once()) return;
  const bool quiet = WaitUntilQuiet();
  const auto micros = once();
  if (!micros) return;
  candidate.samples.Add(*micros);
  ++conditions.samples;
  if (!quiet) ++conditions.noisy;
}

/// All candidates interleaved in random order, so that what the machine does hits all alike.
Conditions MeasureAll(Field& field, const Options& options, cli::Console& console) {
  auto& candidates = field.candidates();
  Conditions conditions{.rounds = options.rounds};
  // Templates are built and files read before anything counts.
  for (Candidate& each : candidates) {
    if (!each.failure.empty()) continue;  // not installed
    if (auto warm = each.once(); !warm) each.failure = warm.error().what;
  }
  std::mt19937 random(std::random_device{}());
  std::vector<std::size_t> order(candidates.size());
  std::iota(order.begin(), order.end(), 0);
  for (unsigned round = 0; round < options.rounds; ++round) {
    std::ranges::shuffle(order, random);
    for (const std::size_t index : order) {
      if (round % candidates[index].every == 0) Measure(candidates[index], conditions);
    }
    if ((round + 1) % 10 == 0) {
      console.Note("round " + std::to_string(round + 1) + " of " + std::to_string(options.rounds));
    }
  }
  return conditions;
}

Result<void> WriteJson(const std::string& path, const std::string& text) {
  const UniqueFd fd(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644));
  if (!fd) {
    const int saved_errno = errno;
    return FailSys(saved_errno, "cannot write '" + path + "'");
  }
  return WriteAll(fd.get(), text);
}

Result<void> Run(const std::vector<std::string>& words, cli::Console& console) {
  IGLOO_ASSIGN(const Options options, Parse(words));
  if (options.help) {
    console.Out(kUsage);
    return {};
  }
  IGLOO_ASSIGN(const auto field, Field::Make(options.peers, options.mcp));
  auto& candidates = field->candidates();
  std::erase_if(candidates, [&](const Candidate& each) { return !Wanted(each, options.only); });
  Results results;
  if (options.only.empty()) {
    console.Note("which walls there are");
    results.walls = InspectPeers(field->ground());
    // Before the kernel has put thousands of freed objects aside, which would hide what new ones
    // cost.
    console.Note("memory of idle sandboxes");
    results.idle = MeasureIdle(field->ground(), field->programs(), options.idle);
  }
  if (options.only.empty() || Named("ready", options.only)) {
    console.Note("memory of interpreters that wait");
    const auto rows = MeasureReadyIdle(field->programs(), options.ready);
    JudgeReadyIdle(rows, results.ready);
    results.idle.insert(results.idle.end(), rows.begin(), rows.end());
  }
  results.conditions = MeasureAll(*field, options, console);
  if (options.only.empty() || Named("sustained", options.only)) {
    console.Note("two workers without a pause");
    results.sustained = SustainAll(*field, options.windows);
  }
  if (options.only.empty() || Named("mcp", options.only)) {
    console.Note("the MCP server under load");
    results.mcp = field->mcp().Measure(options.calls);
  }
  if (options.only.empty() || Named("ready_mcp", options.only)) {
    console.Note("the MCP server and interpreters that wait");
    const Figures through = field->mcp().MeasureReady(options.fresh, options.sessions);
    results.ready.all.insert(results.ready.all.end(), through.all.begin(), through.all.end());
    results.ready.failure = through.failure;
  }
  if (options.only.empty() || Named("network", options.only)) {
    console.Note("idle connections");
    const Figures idle = field->network().MeasureIdle(options.connections);
    results.ready.all.insert(results.ready.all.end(), idle.all.begin(), idle.all.end());
    if (results.ready.failure.empty()) results.ready.failure = idle.failure;
  }
  results.ready.Tell("pool_misses", "samples for which none was ready, not counted",
                     field->pool_misses());
  results.candidates = candidates;
  results.output_peak = field->output_peak();
  results.one_shot = field->one_shot_timeline();
  results.prepared = field->prepared_timeline();
  console.Out(ReportText(results));
  if (!options.json.empty()) IGLOO_TRY(WriteJson(options.json, ReportJson(results)));
  return {};
}

}  // namespace
}  // namespace igloo::bench

int main(int argc, char** argv) {
  ::signal(SIGPIPE, SIG_IGN);  // an interpreter that is gone is an error of write()
  igloo::cli::Console console(STDOUT_FILENO, STDERR_FILENO);
  const std::vector<std::string> words(argv + 1, argv + argc);
  const auto done = igloo::bench::Run(words, console);
  if (done) return 0;
  console.Report(done.error());
  return 1;
}
