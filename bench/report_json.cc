#include <sys/utsname.h>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <thread>

#include "bench/goals.h"
#include "bench/report.h"

namespace igloo::bench {
namespace {

namespace json = boost::json;

json::value Number(std::optional<double> number) {
  return number ? json::value(*number) : json::value(nullptr);
}

template <class Rows, class ToJson>
json::array All(const Rows& rows, const ToJson& to_json) {
  json::array out;
  for (const auto& each : rows) out.push_back(to_json(each));
  return out;
}

std::string_view NameOf(Group group) {
  switch (group) {
    case Group::kIgloo:
      return "igloo";
    case Group::kPeer:
      return "peer";
    case Group::kDetail:
      break;
  }
  return "detail";
}

json::object MachineJson() {
  utsname name{};
  ::uname(&name);
  return {{"kernel", name.release},
          {"architecture", name.machine},
          {"cpus", std::thread::hardware_concurrency()}};
}

json::object CandidateJson(const std::vector<Candidate>& all, const Candidate& candidate) {
  json::object out{
      {"key", candidate.key}, {"name", candidate.name}, {"group", NameOf(candidate.group)}};
  const Samples& samples = candidate.samples;
  out["n"] = samples.size();
  if (!candidate.failure.empty()) {
    out["failure"] = candidate.failure;
    return out;
  }
  if (samples.size() == 0) return out;
  out["p10_us"] = samples.Quantile(0.1);
  out["p50_us"] = samples.median();
  out["p90_us"] = samples.Quantile(0.9);
  out["p99_us"] = samples.Quantile(0.99);
  out["of_T"] = Number(Ratio(&candidate, Find(all, "T"), 0.5));
  out["of_bwrap"] = Number(Ratio(&candidate, Find(all, candidate.against), 0.5));
  return out;
}

json::object JudgementJson(const Judgement& each) {
  return {{"goal", each.text},
          {"bar", each.bar == Bar::kAtMost ? "at most" : "at least"},
          {"bound", each.bound},
          {"ratio", Number(each.ratio)},
          {"met", each.ratio ? json::value(each.met()) : json::value(nullptr)}};
}

json::object WallsJson(const Inspected& each) {
  json::object out{{"key", each.key}, {"name", each.name}};
  if (!each.failure.empty()) {
    out["failure"] = each.failure;
    return out;
  }
  out["version"] = each.version;
  out["shared_namespaces"] = json::array(each.walls.shared.begin(), each.walls.shared.end());
  out["filter"] = each.walls.filter;
  out["no_new_privileges"] = each.walls.no_new_privileges;
  out["no_capabilities"] = each.walls.no_capabilities;
  out["usr_read_only"] = each.walls.usr_read_only;
  out["host_hidden"] = each.walls.host_hidden;
  out["besides"] = each.note;
  return out;
}

json::object SustainedJson(const Sustained& each) {
  if (!each.failure.empty()) return {{"key", each.key}, {"failure", each.failure}};
  return {{"key", each.key},
          {"name", each.name},
          {"runs", each.runs.size()},
          {"runs_per_second", each.rate()},
          {"windows", json::array(each.rates.begin(), each.rates.end())},
          {"p50_us", each.runs.median()},
          {"p99_us", each.runs.Quantile(0.99)}};
}

json::object IdleJson(const Idle& each) {
  if (!each.failure.empty()) return {{"key", each.key}, {"failure", each.failure}};
  return {{"key", each.key},
          {"name", each.name},
          {"processes", each.processes},
          {"pss_kib", Number(each.pss)},
          {"kernel_kib", each.kernel}};
}

json::object FiguresJson(const Figures& figures) {
  json::object out{{"figures", All(figures.all, [](const Figure& each) {
                      return json::object{{"key", each.key},
                                          {"name", each.name},
                                          {"value", each.value},
                                          {"bar", Number(each.bar)}};
                    })}};
  if (!figures.failure.empty()) out["failure"] = figures.failure;
  return out;
}

json::object StageJson(const Timeline::Stage& stage) {
  return {{"stage", stage.name}, {"at_us", stage.at.median()}, {"took_us", stage.took.median()}};
}

}  // namespace

std::string ReportJson(const Results& results) {
  const json::object document{
      {"machine", MachineJson()},
      {"rounds", results.conditions.rounds},
      {"samples", results.conditions.samples},
      {"noisy_samples", results.conditions.noisy},
      {"candidates",
       All(results.candidates,
           [&](const Candidate& each) { return CandidateJson(results.candidates, each); })},
      {"goals",
       All(Judge(results.candidates, results.sustained, FiguresOf(results)), JudgementJson)},
      {"walls", All(results.walls, WallsJson)},
      {"sustained", All(results.sustained, SustainedJson)},
      {"idle", All(results.idle, IdleJson)},
      {"mcp", FiguresJson(results.mcp)},
      {"ready", FiguresJson(results.ready)},
      {"output_peak_kib", results.output_peak.Quantile(1)},
      {"one_shot_timeline", All(results.one_shot.stages(), StageJson)},
      {"prepared_timeline", All(results.prepared.stages(), StageJson)},
  };
  return json::serialize(document) + "\n";
}

}  // namespace igloo::bench
