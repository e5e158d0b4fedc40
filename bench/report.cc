#include "bench/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "bench/goals.h"

namespace igloo::bench {
namespace {

std::string Times(std::optional<double> ratio) {
  return ratio ? fmt::format("{:.2f}", *ratio) : "-";
}

std::string CandidateTable(const Results& results) {
  const Candidate* unit = Find(results.candidates, "T");
  std::string out =
      fmt::format("{:<32} {:>4} {:>8} {:>8} {:>8} {:>8} {:>8} {:>8}\n", "candidate (us)", "n",
                  "p10", "p50", "p90", "p99", "x T", "x bwrap");
  for (const Candidate& each : results.candidates) {
    const Samples& samples = each.samples;
    if (!each.failure.empty()) {
      out += fmt::format("{:<32} {}{}\n", each.name, each.once ? "failed: " : "", each.failure);
    } else if (samples.size() != 0) {
      out +=
          fmt::format("{:<32} {:>4} {:>8.0f} {:>8.0f} {:>8.0f} {:>8.0f} {:>8} {:>8}\n", each.name,
                      samples.size(), samples.Quantile(0.1), samples.median(),
                      samples.Quantile(0.9), samples.Quantile(0.99), Times(Ratio(&each, unit, 0.5)),
                      Times(Ratio(&each, Find(results.candidates, each.against), 0.5)));
    }
  }
  return out;
}

std::string GoalTable(const Results& results) {
  std::string out = fmt::format("{:<56} {:>8} {:>8} {:>8}  {}\n", "goal (ratio)", "bar", "of p50",
                                "of p10", "met");
  for (const Judgement& each : Judge(results.candidates, results.sustained, FiguresOf(results))) {
    out += fmt::format("{:<56} {:>8} {:>8} {:>8}  {}\n", each.text,
                       fmt::format("{} {}", each.bar == Bar::kAtMost ? "<=" : ">=", each.bound),
                       Times(each.ratio), Times(each.quiet),
                       !each.ratio  ? "not measured"
                       : each.met() ? "yes"
                                    : "NO, missed");
  }
  return out;
}

std::string WallTable(const Results& results) {
  if (results.walls.empty()) return {};
  std::string out = "walls, as a program inside finds them\n";
  for (const Inspected& each : results.walls) {
    out += fmt::format("{:<16} {}\n", each.name,
                       each.failure.empty() ? each.walls.Describe() : each.failure);
    if (each.absent) continue;
    out += fmt::format("{:<16}   besides: {}\n", "", each.note);
    if (!each.version.empty()) out += fmt::format("{:<16}   version: {}\n", "", each.version);
  }
  return out + "\n";
}

std::string SustainedTable(const Results& results) {
  if (results.sustained.empty()) return {};
  std::string out =
      fmt::format("{:<32} {:>8} {:>8} {:>8} {:>10} {:>8} {:>8}\n", "two workers, runs per second",
                  "median", "first", "last", "last/first", "p99/p50", "x bwrap");
  for (const Sustained& each : results.sustained) {
    if (!each.failure.empty()) {
      out += fmt::format("{:<32} failed: {}\n", each.name, each.failure);
      continue;
    }
    const auto bwrap = std::ranges::find(results.sustained, each.against, &Sustained::key);
    const double against = bwrap == results.sustained.end() ? 0 : bwrap->rate();
    out += fmt::format("{:<32} {:>8.0f} {:>8.0f} {:>8.0f} {:>10.2f} {:>8.1f} {:>8}\n", each.name,
                       each.rate(), each.rates.front(), each.rates.back(), each.last_of_first(),
                       each.runs.Quantile(0.99) / each.runs.median(),
                       against == 0 ? "-" : fmt::format("{:.2f}", each.rate() / against));
  }
  return out + "\n";
}

std::string IdleTable(const Results& results) {
  if (results.idle.empty()) return {};
  std::string out = fmt::format("{:<32} {:>9} {:>9} {:>9}\n", "one idle sandbox (KiB)", "processes",
                                "PSS", "kernel");
  for (const Idle& each : results.idle) {
    if (!each.failure.empty()) {
      out += fmt::format("{:<32} failed: {}\n", each.name, each.failure);
      continue;
    }
    out += fmt::format("{:<32} {:>9.1f} {:>9} {:>9.0f}\n", each.name, each.processes,
                       each.pss ? fmt::format("{:.0f}", *each.pss) : "-", each.kernel);
  }
  return out + "\n";
}

std::string FigureTable(const Figures& figures, std::string_view of) {
  std::string out;
  for (const Figure& each : figures.all) {
    out += fmt::format("{:<56} {:>8.2f}\n", each.name, each.value);
  }
  if (!figures.failure.empty()) out += fmt::format("{}, failed: {}\n", of, figures.failure);
  return out.empty() ? out : out + "\n";
}

std::string TimelineTable(const Timeline& timeline, std::string_view kind) {
  std::string out =
      fmt::format("{:<32} {:>9} {:>9}\n", fmt::format("{}, stage reached", kind), "at", "took");
  for (const Timeline::Stage& stage : timeline.stages()) {
    out += fmt::format("{:<32} {:>9.0f} {:>9.0f}\n", stage.name, stage.at.median(),
                       stage.took.median());
  }
  return out + "\n";
}

}  // namespace

std::vector<Figure> FiguresOf(const Results& results) {
  std::vector<Figure> all = results.mcp.all;
  all.insert(all.end(), results.ready.all.begin(), results.ready.all.end());
  return all;
}

std::string ReportText(const Results& results) {
  std::string out = CandidateTable(results);
  if (results.output_peak.size() != 0) {
    out += fmt::format("igloo's own memory while 1 GB passed: {:.1f} MiB at most\n",
                       results.output_peak.Quantile(1) / 1024);
  }
  out += "\n" + SustainedTable(results) + IdleTable(results) +
         FigureTable(results.mcp, "MCP server") + FigureTable(results.ready, "ready interpreters") +
         WallTable(results) + TimelineTable(results.one_shot, "one shot") +
         TimelineTable(results.prepared, "prepared") + GoalTable(results);
  return out + fmt::format("\n{} rounds; {} of {} samples were taken on a busy machine\n",
                           results.conditions.rounds, results.conditions.noisy,
                           results.conditions.samples);
}

}  // namespace igloo::bench
