#include "cli/agent/list.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/json.hpp>
#include <ctime>

#include "agent/roster.h"
#include "base/spawn.h"
#include "base/text.h"
#include "cli/agent/launch.h"
#include "cli/agent/tmux_launch.h"

namespace igloo::cli {
namespace {

namespace json = boost::json;

std::string Age(std::int64_t started) {
  const std::int64_t seconds = std::max<std::int64_t>(0, std::time(nullptr) - started);
  if (seconds < 120) return fmt::format("{} s", seconds);
  if (seconds < 7200) return fmt::format("{} min", seconds / 60);
  return fmt::format("{} h", seconds / 3600);
}

std::string StateOf(const agent::BoxInfo& box) { return box.paused ? "paused" : "runs"; }

std::string BoxesJson(const std::vector<agent::BoxInfo>& boxes,
                      const std::vector<EndedBox>& ended) {
  json::array rows;
  for (const agent::BoxInfo& each : boxes) {
    rows.push_back(json::object{{"name", each.name},
                                {"agent", each.agent},
                                {"project", each.project},
                                {"network", each.network},
                                {"started", each.started},
                                {"state", StateOf(each)},
                                {"tmux", each.in_tmux},
                                {"hits", json::array(each.hits.begin(), each.hits.end())}});
  }
  json::object document{{"boxes", std::move(rows)}};
  json::array gone;
  for (const EndedBox& each : ended) {
    gone.push_back(json::object{{"name", each.name}, {"exit", each.exit_code}});
  }
  if (!gone.empty()) document["ended"] = std::move(gone);
  return json::serialize(document) + "\n";
}

/// What a person should know of a box beside its row.
std::string RemarksOn(const agent::BoxInfo& box) {
  std::string text;
  for (const std::string& each : box.hits) {
    text += fmt::format("  it ran into its limit of {}\n", Printable(each));
  }
  if (box.in_tmux) text += fmt::format("  its terminal: igloo agent attach {}\n", box.name);
  return text;
}

std::string EndedText(const std::vector<EndedBox>& ended) {
  std::string text;
  for (const EndedBox& each : ended) {
    text += fmt::format("{} has ended with exit code {}; its last words: igloo agent attach {}\n",
                        each.name, each.exit_code, each.name);
  }
  return text;
}

}  // namespace

Result<int> ListBoxes(const ParsedArgs& args, Console& console) {
  IGLOO_ASSIGN(const agent::BoxRegistry registry, OpenBoxes());
  IGLOO_ASSIGN(const std::vector<agent::BoxInfo> boxes, registry.List());
  const std::vector<EndedBox> ended = FindEnded(registry);
  if (args.Has("--json")) {
    console.Out(BoxesJson(boxes, ended));
    return 0;
  }
  console.Out(EndedText(ended));
  if (boxes.empty() && !ended.empty()) return 0;
  if (boxes.empty()) {
    console.Note("no box runs; start one: igloo agent claude");
    return 0;
  }
  std::size_t width = 4;
  for (const agent::BoxInfo& each : boxes) width = std::max(width, each.name.size());
  console.Out(console.Paint(Console::Tone::kBold,
                            fmt::format("{:<{}}  {:<10}  {:<6}  {:<8}  {:>7}  {}\n", "NAME", width,
                                        "AGENT", "STATE", "NETWORK", "AGE", "PROJECT")));
  for (const agent::BoxInfo& each : boxes) {
    console.Out(fmt::format("{:<{}}  {:<10}  {:<6}  {:<8}  {:>7}  {}\n", each.name, width,
                            Printable(each.agent), StateOf(each), Printable(each.network),
                            Age(each.started), Printable(each.project)) +
                RemarksOn(each));
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
