#include "cli/changes/changes_output.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <ctime>

#include "base/text.h"
#include "service/changes/patch.h"

namespace igloo::cli {
namespace {

namespace json = boost::json;
using namespace service::changes;  // NOLINT(google-build-using-namespace)

std::string TimeText(std::int64_t seconds) {
  const std::time_t time = seconds;
  std::tm local{};
  char text[32];
  if (::localtime_r(&time, &local) == nullptr) return "?";
  return std::strftime(text, sizeof text, "%Y-%m-%d %H:%M", &local) != 0 ? text : "?";
}

Console::Tone ToneOf(Kind kind) {
  switch (kind) {
    case Kind::kAdded:
      return Console::Tone::kGood;
    case Kind::kDeleted:
      return Console::Tone::kBad;
    case Kind::kChanged:
    case Kind::kRenamed:
      break;
  }
  return Console::Tone::kWarn;
}

/// Of a link: where it leads, which may be far outside of the project.
std::string LinkText(const Change& change) {
  return change.link.empty() ? "" : "  (a link to " + ShownPath(change.link) + ")";
}

std::string NamesOf(const Change& change) {
  const bool directory =
      (change.after ? change.after : change.before).value_or(Node{}).type == Type::kDirectory;
  const std::string path = ShownPath(change.path) + (directory ? "/" : "");
  return change.from.empty() ? path : ShownPath(change.from) + " -> " + path;
}

std::string TipsText(const std::vector<Tip>& tips) {
  std::string out;
  for (const Tip& tip : tips) {
    out += fmt::format("commits on {}: {}, to arrive as branch {}\n", ShownPath(tip.branch),
                       tip.object.substr(0, 12), tip.arrives_as);
  }
  return out;
}

json::array Paths(const std::vector<std::string>& paths) {
  json::array out;
  for (const std::string& path : paths) out.emplace_back(ToUtf8(path));
  return out;
}

json::array Remarks(const std::vector<Remark>& remarks) {
  json::array out;
  for (const Remark& each : remarks) {
    out.push_back(json::object{{"path", ToUtf8(each.path)}, {"why", ToUtf8(each.why)}});
  }
  return out;
}

json::array TipsJson(const std::vector<Tip>& tips) {
  json::array out;
  for (const Tip& tip : tips) {
    out.push_back(json::object{
        {"branch", ToUtf8(tip.branch)}, {"object", tip.object}, {"arrives_as", tip.arrives_as}});
  }
  return out;
}

json::object ChangeJson(const Contents& contents, const Change& change, bool patch) {
  json::object out{{"kind", Letter(change.kind)}, {"path", ToUtf8(change.path)}};
  if (!change.from.empty()) out["from"] = ToUtf8(change.from);
  if (!change.link.empty()) out["link"] = ToUtf8(change.link);
  if (change.protection) out["protected"] = change.protection.reason;
  if (!change.refused.empty()) out["refused"] = ToUtf8(change.refused);
  if (const auto stat = StatOf(contents, change)) {
    out["binary"] = stat->binary;
    if (!stat->binary) {
      out["added"] = stat->added;
      out["removed"] = stat->removed;
    }
  }
  if (!patch) return out;
  if (const auto text = PatchOf(contents, change)) {
    out["patch"] = ToUtf8(*text);
  } else {
    out["error"] = ToUtf8(text.error().what);
  }
  return out;
}

}  // namespace

std::string ShownPath(const std::string& path) { return ShellQuote(Printable(path)); }

std::string_view StateText(ChangeSet::State state) {
  switch (state) {
    case ChangeSet::State::kRunning:
      return "running";
    case ChangeSet::State::kReady:
      return "ready";
    case ChangeSet::State::kInterrupted:
      return "interrupted";
    case ChangeSet::State::kApplied:
      return "applied";
  }
  return "?";
}

std::string ListText(const std::vector<ChangeSet>& sets, const Console& console) {
  if (sets.empty()) {
    return "there are no changes; igloo run --project DIR:overlay --keep NAME keeps some\n";
  }
  std::size_t width = 0;
  for (const ChangeSet& set : sets) width = std::max(width, set.name.size());
  std::string out;
  for (const ChangeSet& set : sets) {
    out += fmt::format("{}  {:<11}  {}  {}  {}\n",
                       console.Paint(Console::Tone::kBold, fmt::format("{:<{}}", set.name, width)),
                       StateText(set.state), TimeText(set.began), Printable(set.by),
                       ShownPath(set.project));
  }
  return out;
}

std::string ListJson(const std::vector<ChangeSet>& sets) {
  json::array out;
  for (const ChangeSet& set : sets) {
    out.push_back(json::object{{"name", set.name},
                               {"state", StateText(set.state)},
                               {"began", set.began},
                               {"by", ToUtf8(set.by)},
                               {"project", ToUtf8(set.project)}});
  }
  return json::serialize(json::object{{"changes", std::move(out)}}) + "\n";
}

std::string NamesText(const Shown& shown, const Console& console) {
  std::string out;
  for (const Change& change : shown.changes) {
    out += console.Paint(ToneOf(change.kind), Letter(change.kind)) + " " + NamesOf(change) +
           LinkText(change);
    if (!change.refused.empty()) out += "  (cannot be applied: " + Printable(change.refused) + ")";
    if (change.protection) {
      out += fmt::format("  (protected: {})", change.protection.reason);
    }
    out += "\n";
  }
  return out + TipsText(shown.tips);
}

std::string StatText(const Contents& contents, const Shown& shown, const Console& console) {
  std::string out;
  std::size_t files = 0, added = 0, removed = 0;
  for (const Change& change : shown.changes) {
    const auto stat = StatOf(contents, change);
    ++files;
    if (!stat) {
      out += " " + NamesOf(change) + " | ? " + Printable(stat.error().what) + "\n";
    } else if (stat->binary) {
      out += fmt::format(" {} | {} -> {} bytes\n", NamesOf(change), stat->removed, stat->added);
    } else {
      added += stat->added;
      removed += stat->removed;
      out += fmt::format(" {} | {} {}{}\n", NamesOf(change), stat->added + stat->removed,
                         console.Paint(Console::Tone::kGood,
                                       std::string(std::min<std::size_t>(stat->added, 30), '+')),
                         console.Paint(Console::Tone::kBad,
                                       std::string(std::min<std::size_t>(stat->removed, 30), '-')));
    }
  }
  return out + fmt::format(" {} changed, {} lines added, {} removed\n", files, added, removed) +
         TipsText(shown.tips);
}

std::string PaintPatch(const std::string& patch, const Console& console) {
  if (!console.out_is_terminal()) return patch;
  std::string out;
  for (std::string_view rest = patch; !rest.empty();) {
    const std::string_view line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(rest.size(), line.size() + 1));
    // SECURITY: code inside chose these lines, and a terminal obeys escapes.
    const std::string text = Printable(line, Newlines::kKeep);
    const bool head =
        line.starts_with("diff ") || line.starts_with("---") || line.starts_with("+++");
    if (head) {
      out += console.Paint(Console::Tone::kBold, text);
    } else if (line.starts_with('+')) {
      out += console.Paint(Console::Tone::kGood, text);
    } else if (line.starts_with('-')) {
      out += console.Paint(Console::Tone::kBad, text);
    } else {
      out += line.starts_with("@@") ? console.Paint(Console::Tone::kDim, text) : text;
    }
    out += "\n";
  }
  return out;
}

std::string PatchText(const Contents& contents, const Shown& shown, const Console& console,
                      std::vector<Error>& missing) {
  std::string out;
  for (const Change& change : shown.changes) {
    auto patch = PatchOf(contents, change);
    if (patch) {
      out += PaintPatch(*patch, console);
    } else {
      missing.push_back(std::move(patch).error());
    }
  }
  return out;
}

std::string ShowJson(const Contents& contents, const Shown& shown, bool patch) {
  json::array list;
  for (const Change& change : shown.changes) list.push_back(ChangeJson(contents, change, patch));
  const ChangeSet& set = contents.set();
  return json::serialize(json::object{{"name", set.name},
                                      {"state", StateText(set.state)},
                                      {"project", ToUtf8(set.project)},
                                      {"changes", std::move(list)},
                                      {"commits", TipsJson(shown.tips)}}) +
         "\n";
}

void SayOutcome(const ChangeSet& set, const Outcome& outcome, const std::vector<Tip>& brought,
                Console& console) {
  for (const std::string& path : outcome.applied) {
    const bool merged = std::ranges::find(outcome.merged, path) != outcome.merged.end();
    console.Out((merged ? "merged " : "applied ") + ShownPath(path) + "\n");
  }
  for (const Tip& tip : brought) console.Out("branch " + tip.arrives_as + "\n");
  if (outcome.applied.empty() && brought.empty()) console.Out("nothing was changed\n");
  for (const Remark& each : outcome.refused) {
    console.Note(ShownPath(each.path) + " cannot be applied: " + Printable(each.why));
  }
  for (const Remark& each : outcome.withheld) {
    console.Note(ShownPath(each.path) + " was left out: " + each.why +
                 "; to apply it: igloo apply " + set.name + " " + ShownPath(each.path));
  }
  for (const Remark& each : outcome.conflicts) {
    console.Note("conflict: " + ShownPath(each.path) + ": " + Printable(each.why));
  }
  if (outcome.conflicts.empty()) return;
  console.Err(fmt::format(
      "  hint: these stayed as they are. Look at them: igloo changes show {0} --patch {1}\n"
      "  Then edit the file yourself, or put yours away and apply again: igloo apply {0} {1}\n",
      set.name, ShownPath(outcome.conflicts[0].path)));
}

std::string OutcomeJson(const ChangeSet& set, const Outcome& outcome,
                        const std::vector<Tip>& brought) {
  return json::serialize(json::object{{"name", set.name},
                                      {"applied", Paths(outcome.applied)},
                                      {"merged", Paths(outcome.merged)},
                                      {"already", Paths(outcome.already)},
                                      {"conflicts", Remarks(outcome.conflicts)},
                                      {"withheld", Remarks(outcome.withheld)},
                                      {"refused", Remarks(outcome.refused)},
                                      {"commits", TipsJson(brought)}}) +
         "\n";
}

}  // namespace igloo::cli
