#include "cli/agent/list.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/json.hpp>
#include <ctime>

#include "agent/roster.h"
#include "base/spawn.h"
#include "base/text.h"
#include "cli/agent/launch.h"

namespace igloo::cli {
namespace {

namespace json = boost::json;

std::string Age(std::int64_t started) {
  const std::int64_t seconds = std::max<std::int64_t>(0, std::time(nullptr) - started);
  if (seconds < 120) return fmt::format("{} s", seconds);
  if (seconds < 7200) return fmt::format("{} min", seconds / 60);
  return fmt::format("{} h", seconds / 3600);
}

}  // namespace

Result<int> ListBoxes(const ParsedArgs& args, Console& console) {
  IGLOO_ASSIGN(const agent::BoxRegistry registry, OpenBoxes());
  IGLOO_ASSIGN(const std::vector<agent::BoxInfo> boxes, registry.List());
  if (args.Has("--json")) {
    json::array rows;
    for (const agent::BoxInfo& each : boxes) {
      rows.push_back(json::object{{"name", each.name},
                                  {"agent", each.agent},
                                  {"project", each.project},
                                  {"network", each.network},
                                  {"started", each.started}});
    }
    console.Out(json::serialize(json::object{{"boxes", std::move(rows)}}) + "\n");
    return 0;
  }
  if (boxes.empty()) {
    console.Note("no box runs; start one: igloo agent claude");
    return 0;
  }
  std::size_t width = 4;
  for (const agent::BoxInfo& each : boxes) width = std::max(width, each.name.size());
  console.Out(console.Paint(Console::Tone::kBold,
                            fmt::format("{:<{}}  {:<10}  {:<8}  {:>7}  {}\n", "NAME", width,
                                        "AGENT", "NETWORK", "AGE", "PROJECT")));
  for (const agent::BoxInfo& each : boxes) {
    console.Out(fmt::format("{:<{}}  {:<10}  {:<8}  {:>7}  {}\n", each.name, width,
                            Printable(each.agent), Printable(each.network), Age(each.started),
                            Printable(each.project)));
  }
  return 0;
}

Result<int> ListAgents(const ParsedArgs& args, Console& console) {
  IGLOO_ASSIGN(const config::Config config, ReadAgentConfig(args, console));
  IGLOO_ASSIGN(const agent::Roster roster, agent::Roster::Make(config));
  json::array rows;
  std::string text;
  std::size_t width = 4;
  for (const agent::Profile* each : roster.all()) width = std::max(width, each->name.size());
  for (const agent::Profile* each : roster.all()) {
    const std::string path = FindInPath(std::string(each->program));
    rows.push_back(json::object{{"name", each->name},
                                {"title", each->title},
                                {"program", each->program},
                                {"path", path},
                                {"install", each->install},
                                {"yours", config.agents.contains(std::string(each->name))}});
    text += fmt::format("{:<{}}  {:<12}  {}\n", each->name, width, Printable(each->title),
                        !path.empty()           ? Printable(path)
                        : each->install.empty() ? "not on PATH: " + Printable(each->program)
                                                : "not installed: " + std::string(each->install));
  }
  if (args.Has("--json")) {
    console.Out(json::serialize(json::object{{"agents", std::move(rows)}}) + "\n");
    return 0;
  }
  console.Out(console.Paint(Console::Tone::kBold, fmt::format("{:<{}}  {:<12}  {}\n", "NAME", width,
                                                              "TITLE", "PROGRAM")));
  console.Out(text);
  return 0;
}

}  // namespace igloo::cli
