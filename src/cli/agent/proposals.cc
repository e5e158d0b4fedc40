#include "cli/agent/proposals.h"

#include <fmt/format.h>

#include <boost/json.hpp>

#include "agent/state/proposals.h"
#include "base/text.h"
#include "cli/agent/agent_state.h"

namespace igloo::cli {
namespace {

namespace json = boost::json;

/// As many digits of an id as people type.
constexpr std::size_t kShownDigits = 12;

std::string Where(const agent::Proposal& each) {
  return "~/" + Printable(each.file) +
         (each.change.pointer.empty() ? "" : " " + Printable(each.change.pointer));
}

json::object ToJson(const agent::Proposal& each) {
  const auto text = [](const std::optional<std::string>& value) {
    return value ? json::value(ToUtf8(*value)) : json::value();
  };
  return {{"id", each.id},
          {"box", each.box},
          {"agent", each.agent},
          {"file", ToUtf8(each.host)},
          {"pointer", ToUtf8(each.change.pointer)},
          {"before", text(each.change.before)},
          {"after", text(each.change.after)},
          {"why", each.change.why}};
}

int List(const std::vector<agent::Proposal>& all, bool as_json, Console& console) {
  if (as_json) {
    json::array rows;
    for (const agent::Proposal& each : all) rows.push_back(ToJson(each));
    console.Out(json::serialize(json::object{{"proposals", std::move(rows)}}) + "\n");
    return 0;
  }
  if (all.empty()) console.Note("no box has proposed anything");
  for (const agent::Proposal& each : all) {
    console.Out(fmt::format("{}  {}  {}  ({})\n", each.id.substr(0, kShownDigits),
                            Printable(each.box), Where(each), each.change.why));
  }
  return 0;
}

/// The lines of a value, each behind a sign.
std::string Signed(char sign, const std::optional<std::string>& value) {
  std::string text;
  std::string_view left = value ? std::string_view(*value) : std::string_view();
  while (!left.empty()) {
    const std::size_t end = std::min(left.find('\n'), left.size());
    text += fmt::format("{} {}\n", sign, Printable(left.substr(0, end)));
    left.remove_prefix(std::min(end + 1, left.size()));
  }
  return text;
}

void Show(const agent::Proposal& each, Console& console) {
  console.Out(
      fmt::format("{}\n  by box {}: {}\n", Where(each), Printable(each.box), each.change.why));
  console.Out(console.Paint(Console::Tone::kBad, Signed('-', each.change.before)));
  console.Out(console.Paint(Console::Tone::kGood, Signed('+', each.change.after)));
}

}  // namespace

Result<int> Proposals(const ParsedArgs& args, Console& console) {
  IGLOO_ASSIGN(const agent::StateStore store, AgentStore());
  if (args.words.size() == 1) {
    IGLOO_ASSIGN(const auto all, agent::ListProposals(store));
    return List(all, args.Has("--json"), console);
  }
  const std::string_view word = args.words[1];
  if (args.words.size() != 3 || (word != "show" && word != "confirm" && word != "drop")) {
    return Fail(Errc::kInvalidArgument, "the command is not complete",
                "write igloo agent proposals, or igloo agent proposals (show | confirm | drop) ID");
  }
  IGLOO_ASSIGN(const agent::Proposal proposal, agent::FindProposal(store, args.words[2]));
  if (word == "show") {
    if (args.Has("--json")) {
      console.Out(json::serialize(ToJson(proposal)) + "\n");
    } else {
      Show(proposal, console);
    }
    return 0;
  }
  if (word == "confirm") {
    IGLOO_TRY(agent::ConfirmProposal(store, proposal.id));
    console.Out("written: " + Where(proposal) + "\n");
  } else {
    IGLOO_TRY(agent::DropProposal(store, proposal.id));
    console.Out("dropped: " + Where(proposal) + "\n");
  }
  return 0;
}

}  // namespace igloo::cli
