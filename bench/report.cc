#include "bench/report.h"

#include <fmt/format.h>
#include <sys/utsname.h>

#include <array>
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <optional>
#include <thread>

namespace igloo::bench {
namespace {

namespace json = boost::json;

enum class Bar { kAtMost, kAtLeast };

/// A promise about two candidates of one run. Never about milliseconds.
struct Goal {
  std::string_view text;
  std::string_view measured, reference;
  Bar bar;
  double bound;
};

constexpr std::array<Goal, 11> kGoals = {{
    {"one shot, in T", "one_shot_report", "T", Bar::kAtMost, 3.6},
    {"one shot, in T (stretch)", "one_shot_report", "T", Bar::kAtMost, 3.1},
    {"one shot, of bwrap", "one_shot_report", "bwrap", Bar::kAtMost, 0.75},
    {"one shot, of bwrap (stretch)", "one_shot_report", "bwrap", Bar::kAtMost, 0.65},
    {"running launcher, in T", "prepared", "T", Bar::kAtMost, 1.6},
    {"100 store paths, in T", "prepared_100", "T", Bar::kAtMost, 3},
    {"300 store paths, in T", "prepared_300", "T", Bar::kAtMost, 3},
    {"600 store paths, in T", "prepared_600", "T", Bar::kAtMost, 3},
    {"100 store paths, faster than bwrap", "bwrap_100", "prepared_100", Bar::kAtLeast, 10},
    {"300 store paths, faster than bwrap", "bwrap_300", "prepared_300", Bar::kAtLeast, 50},
    {"600 store paths, faster than bwrap", "bwrap_600", "prepared_600", Bar::kAtLeast, 200},
}};

/// Of the same share of both; nothing when one of them was not measured.
std::optional<double> Ratio(const Candidate* of, const Candidate* to, double share) {
  if (of == nullptr || to == nullptr || of->samples.size() == 0 || to->samples.size() == 0) {
    return std::nullopt;
  }
  return of->samples.Quantile(share) / to->samples.Quantile(share);
}

bool Met(const Goal& goal, double ratio) {
  return goal.bar == Bar::kAtMost ? ratio <= goal.bound : ratio >= goal.bound;
}

std::string Times(std::optional<double> ratio) {
  return ratio ? fmt::format("{:.2f}", *ratio) : "-";
}

json::value Number(std::optional<double> number) {
  return number ? json::value(*number) : json::value(nullptr);
}

std::string CandidateTable(const Field& field) {
  const Candidate* unit = field.Find("T");
  std::string out = fmt::format("{:<32} {:>4} {:>9} {:>9} {:>9} {:>8} {:>9}\n", "candidate (us)",
                                "n", "p10", "p50", "p90", "x T", "x bwrap");
  for (const Candidate& each : field.candidates()) {
    if (each.samples.size() == 0) {
      if (!each.failure.empty()) out += fmt::format("{:<32} failed: {}\n", each.name, each.failure);
      continue;
    }
    out += fmt::format("{:<32} {:>4} {:>9.0f} {:>9.0f} {:>9.0f} {:>8} {:>9}\n", each.name,
                       each.samples.size(), each.samples.Quantile(0.1), each.samples.median(),
                       each.samples.Quantile(0.9), Times(Ratio(&each, unit, 0.5)),
                       Times(Ratio(&each, field.Find(each.against), 0.5)));
  }
  return out;
}

std::string GoalTable(const Field& field) {
  std::string out = fmt::format("{:<38} {:>8} {:>9} {:>9}  {}\n", "goal (ratio)", "bar", "of p50",
                                "of p10", "met");
  for (const Goal& goal : kGoals) {
    const Candidate* measured = field.Find(goal.measured);
    const Candidate* reference = field.Find(goal.reference);
    const auto ratio = Ratio(measured, reference, 0.5);
    out += fmt::format("{:<38} {:>8} {:>9} {:>9}  {}\n", goal.text,
                       fmt::format("{} {}", goal.bar == Bar::kAtMost ? "<=" : ">=", goal.bound),
                       Times(ratio), Times(Ratio(measured, reference, 0.1)),
                       !ratio              ? "not measured"
                       : Met(goal, *ratio) ? "yes"
                                           : "NO, missed");
  }
  return out;
}

std::string TimelineTable(const Timeline& timeline, std::string_view kind) {
  std::string out =
      fmt::format("{:<32} {:>9} {:>9}\n", fmt::format("{}, stage reached", kind), "at", "took");
  for (const Timeline::Stage& stage : timeline.stages()) {
    out += fmt::format("{:<32} {:>9.0f} {:>9.0f}\n", stage.name, stage.at.median(),
                       stage.took.median());
  }
  return out;
}

json::array TimelineJson(const Timeline& timeline) {
  json::array out;
  for (const Timeline::Stage& stage : timeline.stages()) {
    out.push_back(json::object{
        {"stage", stage.name}, {"at_us", stage.at.median()}, {"took_us", stage.took.median()}});
  }
  return out;
}

json::object MachineJson() {
  utsname name{};
  ::uname(&name);
  return {{"kernel", name.release},
          {"architecture", name.machine},
          {"cpus", std::thread::hardware_concurrency()}};
}

json::object CandidateJson(const Field& field, const Candidate& candidate) {
  json::object out{{"key", candidate.key}, {"name", candidate.name}};
  if (!candidate.failure.empty()) out["failure"] = candidate.failure;
  const Samples& samples = candidate.samples;
  out["n"] = samples.size();
  if (samples.size() == 0) return out;
  out["p10_us"] = samples.Quantile(0.1);
  out["p50_us"] = samples.median();
  out["p90_us"] = samples.Quantile(0.9);
  out["p99_us"] = samples.Quantile(0.99);
  out["of_T"] = Number(Ratio(&candidate, field.Find("T"), 0.5));
  out["of_bwrap"] = Number(Ratio(&candidate, field.Find(candidate.against), 0.5));
  return out;
}

json::object GoalJson(const Field& field, const Goal& goal) {
  const auto ratio = Ratio(field.Find(goal.measured), field.Find(goal.reference), 0.5);
  return {{"goal", goal.text},
          {"bar", goal.bar == Bar::kAtMost ? "at most" : "at least"},
          {"bound", goal.bound},
          {"ratio", Number(ratio)},
          {"met", ratio ? json::value(Met(goal, *ratio)) : json::value(nullptr)}};
}

}  // namespace

std::string ReportText(const Field& field, const Conditions& conditions) {
  return fmt::format("{}\n{}\n{}\n{}\n{} rounds; {} of {} samples were taken on a busy machine\n",
                     CandidateTable(field), GoalTable(field),
                     TimelineTable(field.one_shot_timeline(), "one shot"),
                     TimelineTable(field.prepared_timeline(), "prepared"), conditions.rounds,
                     conditions.noisy, conditions.samples);
}

std::string ReportJson(const Field& field, const Conditions& conditions) {
  json::array candidates;
  for (const Candidate& each : field.candidates()) {
    candidates.push_back(CandidateJson(field, each));
  }
  json::array goals;
  for (const Goal& goal : kGoals) goals.push_back(GoalJson(field, goal));
  const json::object document{
      {"machine", MachineJson()},
      {"rounds", conditions.rounds},
      {"samples", conditions.samples},
      {"noisy_samples", conditions.noisy},
      {"candidates", std::move(candidates)},
      {"goals", std::move(goals)},
      {"one_shot_timeline", TimelineJson(field.one_shot_timeline())},
      {"prepared_timeline", TimelineJson(field.prepared_timeline())},
  };
  return json::serialize(document) + "\n";
}

}  // namespace igloo::bench
