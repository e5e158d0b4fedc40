#include <algorithm>

#include "base/text.h"
#include "cli/changes/changes_output.h"
#include "cli/commands.h"
#include "cli/console.h"

namespace igloo::cli {
namespace {

namespace changes = service::changes;

Result<int> List(const ParsedArgs& args, Console& console) {
  if (args.words.size() != 1) {
    return Fail(Errc::kInvalidArgument, "'igloo changes list' takes no name",
                "write igloo changes show NAME");
  }
  IGLOO_ASSIGN(const auto sets, changes::List());
  if (args.Has("--names")) {
    for (const auto& set : sets) console.Out(set.name + "\n");
  } else {
    console.Out(args.Has("--json") ? ListJson(sets) : ListText(sets, console));
  }
  return 0;
}

/// Those that lie at one of the paths.
Result<void> Narrow(const std::vector<std::string>& paths, const std::string& name, Shown& shown) {
  for (const std::string& path : paths) {
    const bool any = std::ranges::any_of(
        shown.changes, [&](const auto& each) { return changes::LiesIn(each.path, path); });
    if (any) continue;
    return Fail(Errc::kNotFound, "'" + name + "' changed nothing at '" + Printable(path) + "'",
                "igloo changes show " + name + " lists what it changed");
  }
  if (paths.empty()) return {};
  std::erase_if(shown.changes, [&](const auto& each) {
    return std::ranges::none_of(
        paths, [&](const std::string& path) { return changes::LiesIn(each.path, path); });
  });
  shown.tips.clear();
  return {};
}

Result<int> Show(const ParsedArgs& args, Console& console) {
  if (args.words.size() < 2) {
    return Fail(Errc::kInvalidArgument, "'igloo changes show' takes a name",
                "igloo changes list shows all of them");
  }
  IGLOO_ASSIGN(const auto held, changes::Find(args.words[1]));
  IGLOO_ASSIGN(const auto contents, changes::Contents::Open(held.set));
  IGLOO_ASSIGN(auto list, changes::ReadChanges(contents));
  Shown shown{.changes = std::move(list.changes)};
  bool failed = false;
  if (list.git) {
    auto tips = changes::NewTips(contents);
    failed = !tips;
    // The files can be shown and applied all the same.
    if (!tips) console.Report(tips.error());
    if (tips) shown.tips = *std::move(tips);
  }
  IGLOO_TRY(Narrow({args.words.begin() + 2, args.words.end()}, held.set.name, shown));
  if (args.Has("--json")) {
    console.Out(ShowJson(contents, shown, args.Has("--patch")));
  } else if (args.Has("--patch")) {
    std::vector<Error> missing;
    console.Out(PatchText(contents, shown, console, missing));
    for (const Error& each : missing) console.Report(each);
    failed = failed || !missing.empty();
  } else if (args.Has("--stat")) {
    console.Out(StatText(contents, shown, console));
  } else {
    console.Out(shown.changes.empty() && shown.tips.empty() ? "nothing was changed\n"
                                                            : NamesText(shown, console));
  }
  return failed ? 1 : 0;
}

Result<int> RunChanges(const ParsedArgs& args, Console& console) {
  IGLOO_ASSIGN(const std::string_view word, TakeWord(kChangesCommand, args));
  return word == "list" ? List(args, console) : Show(args, console);
}

constexpr Flag kFlags[] = {
    {"--stat", "", "with show: how many lines came and went"},
    {"--patch", "", "with show: a patch that 'git apply' takes"},
    {"--names", "", "with list: names and nothing else"},
    {"--json", "", "print one JSON document; with --patch, the patches are in it"},
};
constexpr Word kWords[] = {{"list", "all changes that are kept"},
                           {"show", "what one of them did to its project", Values::kChangeSet}};

}  // namespace

const Command kChangesCommand = {
    .name = "changes",
    .summary = "show what code changed in copies of projects",
    .usage = "(list | show NAME [PATH...]) [OPTIONS]",
    .flags = kFlags,
    .words = kWords,
    .details =
        "'igloo run --project DIR:overlay --keep NAME' keeps what the code wrote to its copy of\n"
        "the project. Nothing of it is in the project until 'igloo apply NAME'. The letters are\n"
        "A (added), M (modified), D (deleted) and R (renamed). What is protected is applied only\n"
        "if it is named. --patch ends with 1 if a patch cannot be made: the host has changed the\n"
        "file since, and git does not know what it was.\n\n"
        "Examples:\n"
        "  igloo changes list\n"
        "  igloo changes show tidy --stat\n"
        "  igloo changes show tidy --patch src > tidy.patch\n",
    .run = RunChanges,
};

}  // namespace igloo::cli
