#include "cli/agent/why.h"

#include <fmt/format.h>

#include <algorithm>
#include <ctime>

#include "agent/refusals.h"
#include "base/text.h"
#include "cli/agent/launch.h"
#include "service/places.h"

namespace igloo::cli {
namespace {

using agent::BoxRefusals;
using agent::Refusal;

std::string TimeOf(std::int64_t seconds) {
  const std::time_t time = seconds;
  std::tm local{};
  char text[64];
  if (::localtime_r(&time, &local) == nullptr) return "?";
  return {text, std::strftime(text, sizeof text, "%F %T", &local)};
}

/// The one that runs, or the last that has ended.
Result<BoxRefusals> FindAny(const agent::RefusalStore& store,
                            const std::vector<agent::BoxInfo>& running) {
  if (running.size() == 1) return store.Find(running.front().name);
  if (running.empty()) {
    std::vector<BoxRefusals> all = store.All();
    const auto last = std::ranges::max_element(
        all, {}, [](const BoxRefusals& each) { return std::max(each.started, each.ended); });
    if (last != all.end()) return std::move(*last);
    return Fail(Errc::kNotFound, "no box has run yet", "start one: igloo agent claude");
  }
  std::string names;
  for (const agent::BoxInfo& each : running) names += (names.empty() ? "" : ", ") + each.name;
  return Fail(Errc::kInvalidArgument, "several boxes run", "name one of them: " + names);
}

std::string Row(const Refusal& each, Console& console) {
  std::string text = console.Paint(
      Console::Tone::kBold, fmt::format("{:<8} {}", ToText(each.kind), Printable(each.what)));
  if (!each.program.empty()) text += fmt::format(" by {}", Printable(each.program));
  text += each.count == 1 ? ", once" : fmt::format(", {} times", each.count);
  text += fmt::format(", {}", TimeOf(each.first));
  if (each.last != each.first) text += fmt::format(" to {}", TimeOf(each.last));
  text += "\n";
  if (!each.reason.empty()) text += fmt::format("         {}\n", Printable(each.reason));
  return text + fmt::format("         {}\n", Printable(each.remedy));
}

/// What is not in the list, and why.
std::string Unseen(const BoxRefusals& box) {
  std::string text;
  if (box.list.more() > 0)
    text += fmt::format("and {} more, for which there was no room\n", box.list.more());
  if (!box.calls)
    text += "refused system calls are not seen here: igloo runs below another listener\n";
  if (!box.files) text += "hidden files and refused writes are seen only with --learn\n";
  return text;
}

}  // namespace

Result<int> Why(const ParsedArgs& args, Console& console) {
  if (args.words.size() > 2) {
    return Fail(Errc::kInvalidArgument, "'igloo agent why' takes the name of one box",
                "'igloo agent list' shows those that run");
  }
  IGLOO_ASSIGN(const std::string state, service::StatePlace());
  IGLOO_ASSIGN(const agent::RefusalStore store, agent::RefusalStore::Open(state + "/refusals"));
  IGLOO_ASSIGN(const agent::BoxRegistry registry, OpenBoxes());
  IGLOO_ASSIGN(const std::vector<agent::BoxInfo> running, registry.List());
  IGLOO_ASSIGN(const BoxRefusals box,
               args.words.size() == 2 ? store.Find(args.words[1]) : FindAny(store, running));
  if (args.Has("--json")) {
    console.Out(box.Encode());
    return 0;
  }
  const bool runs = std::ranges::find(running, box.box, &agent::BoxInfo::name) != running.end();
  std::string text = fmt::format("box '{}' ({}, {}), from {}", box.box, Printable(box.agent),
                                 Printable(box.project), TimeOf(box.started));
  if (box.ended != 0) text += " to " + TimeOf(box.ended);
  if (box.ended == 0 && !runs) text += "; its igloo was killed";
  text += box.list.empty() ? "\nnothing was refused that igloo has seen\n" : "\n\n";
  for (const Refusal& each : box.list.rows()) text += Row(each, console);
  console.Out(text + (box.list.empty() ? "" : "\n") + Unseen(box));
  return 0;
}

}  // namespace igloo::cli
