#include "bench/goals.h"

#include <algorithm>
#include <array>

namespace igloo::bench {
namespace {

constexpr std::array<Goal, 44> kGoals = {{
    {"one shot, in T", "one_shot_report", "T", Bar::kAtMost, 3.6},
    {"one shot, in T (stretch)", "one_shot_report", "T", Bar::kAtMost, 3.1},
    {"one shot, of bwrap", "one_shot_report", "bwrap", Bar::kAtMost, 0.75},
    {"one shot, of bwrap (stretch)", "one_shot_report", "bwrap", Bar::kAtMost, 0.65},
    {"one shot, p99 of its p50", "one_shot", "one_shot", Bar::kAtMost, 10, 0.99},
    {"running launcher, in T", "prepared", "T", Bar::kAtMost, 1.6},
    {"running launcher, p99 of its p50", "prepared", "prepared", Bar::kAtMost, 10, 0.99},
    {"100 store paths, in T", "prepared_100", "T", Bar::kAtMost, 3},
    {"300 store paths, in T", "prepared_300", "T", Bar::kAtMost, 3},
    {"600 store paths, in T", "prepared_600", "T", Bar::kAtMost, 3},
    {"100 store paths, faster than bwrap", "bwrap_100", "prepared_100", Bar::kAtLeast, 10},
    {"300 store paths, faster than bwrap", "bwrap_300", "prepared_300", Bar::kAtLeast, 50},
    {"600 store paths, faster than bwrap", "bwrap_600", "prepared_600", Bar::kAtLeast, 200},
    {"closure of 100, of one of 10", "closure_100", "closure_10", Bar::kAtMost, 1.5},
    {"closure of 600, of one of 10", "closure_600", "closure_10", Bar::kAtMost, 1.5},
    {"igloo --version, in T", "version", "T", Bar::kAtMost, 1.5},
    {"igloo env list, in T", "env_list", "T", Bar::kAtMost, 3},
    {"igloo env list, 500 artifacts, in T", "env_list_500", "T", Bar::kAtMost, 3},
    {"fresh Python, in T", "ready_python", "T", Bar::kAtMost, 1},
    {"fresh Python that is the plain program, in T", "ready_python", "T", Bar::kAtMost, 4},
    {"fresh bash, in T", "ready_bash", "T", Bar::kAtMost, 0.4},
    {"fresh Node, in T", "ready_node", "T", Bar::kAtMost, 2},
    {"fresh Python, faster than bwrap", "bwrap_python", "ready_python", Bar::kAtLeast, 20},
    {"fresh Python that is the plain program, faster than bwrap", "bwrap_python", "ready_python",
     Bar::kAtLeast, 4},
    {"fresh bash, faster than bwrap", "bwrap_bash", "ready_bash", Bar::kAtLeast, 15},
    {"fresh Node, faster than bwrap", "bwrap_node", "ready_node", Bar::kAtLeast, 20},
    {"session call, alone, of a bare Python loop", "session_call_idle", "session_loop_idle",
     Bar::kAtMost, 1.5},
    {"session calls in a row, of a bare Python loop", "session_call", "session_loop", Bar::kAtMost,
     1.5},
    {"fork of a session with 200 MB, in T", "fork_200mb", "T", Bar::kAtMost, 20},
    {"MCP fresh Python, faster than SDK and bwrap", "mcp_fresh_sdk", "mcp_fresh", Bar::kAtLeast,
     30},
    {"MCP tools/list, of a bare echo", "mcp_list", "mcp_echo", Bar::kAtMost, 3},
    {"igloo run --network allow, of none", "one_shot_allow", "one_shot", Bar::kAtMost, 1.3},
    {"bytes through igloo-proxy, of direct", "net_direct", "net_proxy", Bar::kAtLeast, 0.7},
    {"a request, added, one core, of haproxy", "net_hop_one", "net_hop_haproxy_one", Bar::kAtMost,
     1.5},
    {"a request, added, two cores, of haproxy", "net_hop_two", "net_hop_haproxy_two", Bar::kAtMost,
     1.5},
    {"a request, added, left to the kernel, of haproxy", "net_hop", "net_hop_haproxy", Bar::kAtMost,
     1.5},
    {"box start, in T", "box", "T", Bar::kAtMost, 4},
    {"box start, of claudebox's bwrap", "box", "box_claudebox", Bar::kAtMost, 0.8},
    {"box start, of claude-sandbox's bwrap", "box", "box_claude_sandbox", Bar::kAtMost, 0.8},
    {"box start without a network, in T", "box_closed", "T", Bar::kAtMost, 4},
    {"box start without a network, of claudebox's bwrap", "box_closed", "box_claudebox",
     Bar::kAtMost, 0.8},
    {"box start without a network, of claude-sandbox's bwrap", "box_closed", "box_claude_sandbox",
     Bar::kAtMost, 0.8},
    {"1,000 small processes in a box, of outside", "loop_box", "loop_outside", Bar::kAtMost, 1.05},
    {"1 GB of output, of cat", "output_igloo", "output_cat", Bar::kAtMost, 1.3},
}};

/// The promises about many runs at once; both are about one kind of run alone.
struct SustainedGoal {
  std::string_view key, still, tail;
};

constexpr std::array<SustainedGoal, 2> kSustainedGoals = {{
    {"one_shot", "sustained one shot, last window of first", "sustained one shot, p99 of p50"},
    {"prepared", "sustained launcher, last window of first", "sustained launcher, p99 of p50"},
}};
constexpr double kStill = 0.8;  // a window of one second differs by a tenth on a virtual machine
constexpr double kTail = 10;
constexpr double kScanMillis = 20;
constexpr double kStartMillis = 10;  // of the MCP server, to its first answer

/// Runs per second, of another's.
struct RateGoal {
  std::string_view text, key, reference;
  double bound;
};

constexpr std::array<RateGoal, 2> kRateGoals = {{
    {"sustained launcher, runs of bwrap", "prepared", "bwrap", 2.5},
    {"sustained ready Python, runs of bwrap", "ready_python", "bwrap_python", 3},
}};

/// A promise in milliseconds.
void JudgeMillis(const std::vector<Candidate>& candidates, std::string_view key, std::string text,
                 double bound, std::vector<Judgement>& out) {
  Judgement& made = out.emplace_back(Judgement{std::move(text), Bar::kAtMost, bound});
  const Candidate* measured = Find(candidates, key);
  if (measured == nullptr || measured->samples.size() == 0) return;
  made.ratio = measured->samples.median() / 1000;
  made.quiet = measured->samples.Quantile(0.1) / 1000;
}

void JudgeMcp(const std::vector<Candidate>& candidates, const std::vector<Figure>& figures,
              std::vector<Judgement>& out) {
  JudgeMillis(candidates, "mcp_start", "MCP server, to its first answer, ms", kStartMillis, out);
  JudgeMillis(candidates, "scan_500", "scan of 500 artifacts, ms", kScanMillis, out);
  for (const Figure& each : figures) {
    if (!each.bar) continue;
    out.emplace_back(Judgement{each.name, Bar::kAtMost, *each.bar}).ratio = each.value;
  }
}

}  // namespace

std::optional<double> Ratio(const Candidate* of, const Candidate* to, double share) {
  if (of == nullptr || to == nullptr || of->samples.size() == 0 || to->samples.size() == 0) {
    return std::nullopt;
  }
  return of->samples.Quantile(share) / to->samples.Quantile(share);
}

std::vector<Judgement> Judge(const std::vector<Candidate>& candidates,
                             const std::vector<Sustained>& sustained,
                             const std::vector<Figure>& figures) {
  std::vector<Judgement> out;
  for (const Goal& goal : kGoals) {
    Judgement& made = out.emplace_back(Judgement{std::string(goal.text), goal.bar, goal.bound});
    const Candidate* measured = Find(candidates, goal.measured);
    const Candidate* reference = Find(candidates, goal.reference);
    if (!Ratio(measured, reference, 0.5)) continue;
    made.ratio = measured->samples.Quantile(goal.measured_share) / reference->samples.Quantile(0.5);
    if (goal.measured_share == 0.5) made.quiet = Ratio(measured, reference, 0.1);
  }
  for (const SustainedGoal& goal : kSustainedGoals) {
    Judgement& still = out.emplace_back(Judgement{std::string(goal.still), Bar::kAtLeast, kStill});
    const auto found = std::ranges::find(sustained, goal.key, &Sustained::key);
    const bool measured = found != sustained.end() && found->failure.empty();
    if (measured) still.ratio = found->last_of_first();
    Judgement& tail = out.emplace_back(Judgement{std::string(goal.tail), Bar::kAtMost, kTail});
    if (measured) tail.ratio = found->runs.Quantile(0.99) / found->runs.median();
  }
  for (const RateGoal& goal : kRateGoals) {
    Judgement& rate =
        out.emplace_back(Judgement{std::string(goal.text), Bar::kAtLeast, goal.bound});
    const auto measured = std::ranges::find(sustained, goal.key, &Sustained::key);
    const auto reference = std::ranges::find(sustained, goal.reference, &Sustained::key);
    if (measured != sustained.end() && reference != sustained.end() && reference->rate() > 0) {
      rate.ratio = measured->rate() / reference->rate();
    }
  }
  JudgeMcp(candidates, figures, out);
  return out;
}

}  // namespace igloo::bench
