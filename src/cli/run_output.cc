#include "cli/run_output.h"

#include <fmt/format.h>

#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>

#include "base/text.h"

namespace igloo::cli {
namespace {

namespace json = boost::json;

json::object StreamJson(const session::CappedText& text) {
  return {{"text", ToUtf8(text.kept())}, {"bytes", text.total()}, {"cut", text.cut()}};
}

}  // namespace

std::string ResultJson(const session::RunResult& result) {
  const json::object document{
      {"verdict", std::string(session::Name(result.verdict))},
      {"exit_code", result.exit_code},
      {"signal", result.signal == 0 ? json::value(nullptr) : json::value(result.signal)},
      {"stdout", StreamJson(result.output)},
      {"stderr", StreamJson(result.error)},
      {"duration_ms", static_cast<double>(result.usage.wall_micros) / 1000.0},
      {"cpu_ms", static_cast<double>(result.usage.cpu_micros) / 1000.0},
      {"peak_memory_kb", result.usage.peak_kib},
      {"landlock_abi", result.usage.landlock_abi}};
  return json::serialize(document) + "\n";
}

std::string ErrorJson(const Error& error) {
  const json::object document{
      {"verdict", "error"},
      {"error", json::object{{"what", ToUtf8(error.what)}, {"hint", ToUtf8(error.hint)}}}};
  return json::serialize(document) + "\n";
}

std::string TimelineText(const session::RunResult& result, std::uint64_t main_micros,
                         std::uint64_t end_micros) {
  const auto& line = result.timeline;
  const auto& init = result.usage.stamps;
  // A time of CLOCK_MONOTONIC, so that whoever started igloo can tell how long that took.
  std::string out = fmt::format("timing {:<11} {} us  (clock)\n", "main", main_micros);
  std::uint64_t before = main_micros;
  const auto add = [&](const char* name, std::uint64_t at) {
    if (at == 0) return;
    out += fmt::format("timing {:<11} {:>7} us  (+{})\n", name, at - main_micros, at - before);
    before = at;
  };
  add("launcher", line.launcher);
  add("namespaces", line.namespaces);
  add("root", line.root);
  add("exec", line.exec);
  add("init", init[0]);
  add("program", init[1]);
  add("ended", init[2]);
  add("report", end_micros);
  return out;
}

}  // namespace igloo::cli
