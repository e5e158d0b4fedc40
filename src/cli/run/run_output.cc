#include "cli/run/run_output.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <string_view>
#include <utility>
#include <vector>

#include "base/base64.h"
#include "base/text.h"

namespace igloo::cli {
namespace {

namespace json = boost::json;

json::object StreamJson(const session::CappedText& text) {
  return {{"text", ToUtf8(text.kept())}, {"bytes", text.total()}, {"cut", text.cut()}};
}

json::array RefusalsJson(const session::Refusals& refusals, session::Refusal::Kind kind) {
  json::array out;
  for (const session::Refusal& each : refusals.list) {
    if (each.kind != kind) continue;
    out.push_back(json::object{{"place", ToUtf8(each.place)},
                               {"reason", ToUtf8(each.reason)},
                               {"rule", ToUtf8(each.rule)},
                               {"times", each.times}});
  }
  return out;
}

json::array PutRightJson(const std::vector<std::string>& sentences) {
  json::array out;
  for (const std::string& each : sentences) out.emplace_back(ToUtf8(each));
  return out;
}

json::array PartsJson(const std::vector<session::Part>& parts) {
  json::array out;
  for (const session::Part& part : parts) {
    json::object each{{"mime_type", ToUtf8(part.type)}};
    if (session::IsPlainText(part.bytes)) {
      each["text"] = part.bytes;
    } else {
      each["base64"] = ToBase64(part.bytes);
    }
    out.push_back(std::move(each));
  }
  return out;
}

}  // namespace

std::string ResultJson(const session::RunResult& result, const std::vector<session::Part>& parts) {
  const json::object document{
      {"verdict", std::string(session::Name(result.verdict))},
      {"exit_code", result.exit_code},
      {"signal", result.signal == 0 ? json::value(nullptr) : json::value(result.signal)},
      {"stdout", StreamJson(result.output)},
      {"stderr", StreamJson(result.error)},
      {"duration_ms", static_cast<double>(result.usage.wall_micros) / 1000.0},
      {"cpu_ms", static_cast<double>(result.usage.cpu_micros) / 1000.0},
      {"peak_memory_kb", result.usage.peak_kib},
      {"landlock_abi", result.usage.landlock_abi},
      {"parts", PartsJson(parts)},
      {"refused", RefusalsJson(result.refused, session::Refusal::Kind::kRefused)},
      {"warned", RefusalsJson(result.refused, session::Refusal::Kind::kWarned)},
      {"refused_more", result.refused.more},
      {"put_right", PutRightJson(result.put_right)}};
  return json::serialize(document) + "\n";
}

void SayWhatWasDisplayed(const std::vector<session::Part>& parts, Console& console) {
  if (parts.empty()) return;
  console.Note(fmt::format("the code displayed {}: --json prints {}",
                           parts.size() == 1 ? "something" : fmt::format("{} things", parts.size()),
                           parts.size() == 1 ? "it" : "them"));
}

void SayWhatWasRefused(const session::Refusals& refused, Console& console) {
  const auto remedy = [](const session::Refusal& refusal) {
    return refusal.rule.empty() ? "" : "; --allow '" + refusal.rule + "' would allow it";
  };
  for (const std::string& each : Sentences(refused, remedy)) console.Note(each);
}

void SayWhatWasPutRight(const std::vector<std::string>& sentences, Console& console) {
  for (const std::string& each : sentences) console.Note(each);
}

std::string ErrorJson(const Error& error) {
  const json::object document{
      {"verdict", "error"},
      {"error", json::object{{"what", ToUtf8(error.what)}, {"hint", ToUtf8(error.hint)}}}};
  return json::serialize(document) + "\n";
}

std::string TimelineText(const session::RunResult& result, std::uint64_t main_micros) {
  const auto& line = result.timeline;
  const auto& init = result.usage.stamps;
  std::vector<std::pair<std::string_view, std::uint64_t>> stages = {
      {"launcher", line.launcher},
      {"main", main_micros},
      {"namespaces", line.namespaces},
      {"root", line.root},
      {"exec", line.exec},
      {"init", init[0]},
      {"program", init[1]},
      {"ended", init[2]},
      {"report", static_cast<std::uint64_t>(result.reported_micros)}};
  std::erase_if(stages, [](const auto& stage) { return stage.second == 0; });
  // The launcher and igloo start beside each other: either may be first.
  std::ranges::sort(stages, {}, &std::pair<std::string_view, std::uint64_t>::second);
  // A time of CLOCK_MONOTONIC, so that whoever started igloo can tell how long that took.
  const std::uint64_t first = stages.front().second;
  std::string out = fmt::format("timing {:<11} {} us  (clock)\n", stages.front().first, first);
  for (std::size_t i = 1; i < stages.size(); ++i) {
    const auto& [name, at] = stages[i];
    out +=
        fmt::format("timing {:<11} {:>7} us  (+{})\n", name, at - first, at - stages[i - 1].second);
  }
  return out;
}

}  // namespace igloo::cli
