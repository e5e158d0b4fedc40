#include "cli/agent/collect.h"

#include <fmt/format.h>

#include <boost/json.hpp>
#include <iterator>

#include "agent/leftovers.h"
#include "base/text.h"
#include "cli/agent/agent_state.h"
#include "cli/agent/box_grants.h"
#include "cli/agent/launch.h"
#include "cli/agent/tmux_launch.h"

namespace igloo::cli {
namespace {

namespace json = boost::json;
using agent::Collect;
using agent::Leftover;

std::vector<Leftover> DeadEntries(const agent::BoxRegistry& boxes, Collect collect) {
  std::vector<Leftover> all;
  for (std::string& name : boxes.Dead().value_or(std::vector<std::string>())) {
    all.push_back({.kind = "box", .what = std::move(name), .why = "its igloo was killed"});
  }
  if (collect == Collect::kRemove) {
    (void)boxes.List();
    boxes.RemoveTurns();
  }
  return all;
}

std::vector<Leftover> EndedTerminals(const agent::BoxRegistry& boxes, Collect collect) {
  std::vector<Leftover> all;
  for (const EndedBox& each : FindEnded(boxes)) {
    all.push_back({.kind = "terminal",
                   .what = each.name,
                   .why = fmt::format("its box has ended with exit code {}", each.exit_code)});
    if (collect == Collect::kRemove) (void)ForgetEnded(boxes, each.name);
  }
  return all;
}

Result<std::vector<Leftover>> Interrupted(Collect collect, Console& console) {
  IGLOO_ASSIGN(const agent::StateStore store, AgentStore());
  IGLOO_ASSIGN(std::vector<Leftover> all, agent::FindInterruptedBoxes(store));
  if (collect == Collect::kRemove) IGLOO_TRY(FinishInterruptedBoxes(console));
  for (Leftover& each : all) {
    // What could not be taken is tried again.
    each.kept = collect == Collect::kRemove && agent::SizeOf(store.Boxes() + "/" + each.what) != 0;
    if (each.kept) each.why = "its changes cannot be taken yet";
  }
  return all;
}

Result<std::vector<Leftover>> CollectAll(Collect collect, Console& console) {
  std::vector<Leftover> all;
  const auto add = [&](std::vector<Leftover> more) {
    std::ranges::move(more, std::back_inserter(all));
  };
  IGLOO_ASSIGN(const agent::BoxRegistry boxes, OpenBoxes());
  add(DeadEntries(boxes, collect));
  add(EndedTerminals(boxes, collect));
  IGLOO_ASSIGN(auto interrupted, Interrupted(collect, console));
  add(std::move(interrupted));
  IGLOO_ASSIGN(auto grants, BoxGrants::CollectDead(collect));
  add(std::move(grants));
  IGLOO_ASSIGN(const agent::StateStore store, AgentStore());
  IGLOO_ASSIGN(auto histories, agent::CollectHistories(store, collect));
  add(std::move(histories));
  IGLOO_ASSIGN(auto homes, agent::CollectKeptHomes(store, collect));
  add(std::move(homes));
  IGLOO_ASSIGN(auto changes, agent::CollectChanges(collect));
  add(std::move(changes));
  return all;
}

}  // namespace

Result<int> CollectLeftovers(const ParsedArgs& args, Console& console) {
  if (args.words.size() != 1) {
    return Fail(Errc::kInvalidArgument, "'igloo agent gc' takes no name",
                "it removes only what belongs to no box and no project; see --dry-run");
  }
  const bool shows = args.Has("--dry-run");
  IGLOO_ASSIGN(const std::vector<Leftover> all,
               CollectAll(shows ? Collect::kShow : Collect::kRemove, console));
  std::uint64_t bytes = 0;
  json::array rows;
  std::string text;
  const std::string_view verb = shows ? "would remove" : "removed";
  for (const Leftover& each : all) {
    if (!each.kept) bytes += each.bytes;
    rows.push_back(json::object{{"kind", each.kind},
                                {"what", each.what},
                                {"why", each.why},
                                {"bytes", each.bytes},
                                {"kept", each.kept}});
    text += fmt::format("{:<13} {:<9} {:>9}  {}  ({})\n", each.kept ? "kept" : verb, each.kind,
                        HumanBytes(each.bytes), Printable(each.what), Printable(each.why));
  }
  if (args.Has("--json")) {
    console.Out(json::serialize(json::object{
                    {"leftovers", std::move(rows)}, {"bytes", bytes}, {"dry_run", shows}}) +
                "\n");
    return 0;
  }
  console.Out(text);
  console.Out(all.empty() ? std::string("nothing is left over\n")
                          : fmt::format("{} {}\n", verb, HumanBytes(bytes)));
  return 0;
}

}  // namespace igloo::cli
