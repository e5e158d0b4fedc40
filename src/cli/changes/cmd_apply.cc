#include <unistd.h>

#include <cerrno>

#include "cli/changes/changes_output.h"
#include "cli/changes/choose_hunks.h"
#include "cli/commands.h"
#include "cli/console.h"

namespace igloo::cli {
namespace {

namespace changes = service::changes;

/// One line that a person types; nothing at the end of input.
std::optional<std::string> ReadAnswer() {
  std::string line;
  for (;;) {
    char c = 0;
    const ssize_t count = ::read(STDIN_FILENO, &c, 1);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return std::nullopt;
    if (c == '\n') return line;
    if (line.size() < 100) line += c;
  }
}

Result<changes::Choice> ChoiceFor(const ParsedArgs& args, const changes::Contents& contents,
                                  const changes::ChangeList& list, Console& console) {
  std::vector<std::string> paths(args.words.begin() + 1, args.words.end());
  if (!args.Has("--interactive")) return changes::Choice{.paths = std::move(paths)};
  if (::isatty(STDIN_FILENO) != 1 || !console.out_is_terminal() || args.Has("--json")) {
    return Fail(Errc::kInvalidArgument, "'--interactive' asks a person at a terminal",
                "name the files instead: igloo apply NAME PATH...");
  }
  const Ask ask = [&](const std::string& question) {
    console.Out(question);
    return ReadAnswer();
  };
  return ChooseHunks(contents, list, paths, ask, console);
}

Result<void> Bring(const changes::Contents& contents, std::vector<changes::Tip>& tips) {
  IGLOO_ASSIGN(tips, changes::NewTips(contents));
  return changes::BringCommits(contents, tips);
}

Result<int> RunApply(const ParsedArgs& args, Console& console) {
  if (args.words.empty() || args.rest) {
    return Fail(Errc::kInvalidArgument, "'igloo apply' takes the name of some changes",
                "igloo changes list shows all of them");
  }
  IGLOO_ASSIGN(const auto held, changes::Find(args.words[0]));
  IGLOO_ASSIGN(const auto contents, changes::Contents::Open(held.set));
  IGLOO_ASSIGN(const auto list, changes::ReadChanges(contents));
  IGLOO_ASSIGN(const auto choice, ChoiceFor(args, contents, list, console));
  changes::Outcome outcome;
  const bool asked = args.Has("--interactive");
  const bool files = !args.Has("--commits") && (!asked || !choice.paths.empty());
  if (files) {
    IGLOO_ASSIGN(outcome, changes::Apply(contents, list, choice));
  }
  std::vector<changes::Tip> tips;
  const bool all = args.words.size() == 1 && !asked;
  Result<void> brought;
  if (all && list.git) {
    brought = Bring(contents, tips);
    // What happened to the files is said first.
    if (!brought) tips.clear();
  }
  if (args.Has("--json")) {
    console.Out(OutcomeJson(held.set, outcome, tips));
  } else {
    SayOutcome(held.set, outcome, tips, console);
  }
  IGLOO_TRY(std::move(brought));
  if (all && files && outcome.complete()) IGLOO_TRY(changes::MarkApplied(held.set));
  return outcome.conflicts.empty() && outcome.refused.empty() ? 0 : 1;
}

constexpr Flag kFlags[] = {
    {"--interactive", "", "ask about every change, and about every hunk of a text file"},
    {"--commits", "", "only the commits, as branches; no file of the project changes"},
    {"--json", "", "print one JSON document"},
};

}  // namespace

const Command kApplyCommand = {
    .name = "apply",
    .summary = "put what code changed in a copy of a project into the project",
    .usage = "NAME [PATH...] [OPTIONS]",
    .flags = kFlags,
    .words = {},
    .details =
        "Without a PATH, everything but what is protected: names that programs obey, such as\n"
        ".git/hooks, .envrc or .vscode, are applied only if they are named. A file that the host\n"
        "has changed since is merged if no lines meet, which needs a git repository; otherwise it\n"
        "is a conflict and stays as it is. Files are replaced as a whole, and an apply that is\n"
        "killed is finished or undone when igloo next looks at the changes. Commits that were "
        "made\n"
        "inside arrive as the branch igloo/NAME. The exit code is 1 if something was not applied\n"
        "because of a conflict.\n\n"
        "Examples:\n"
        "  igloo apply tidy\n"
        "  igloo apply tidy src/main.c docs\n"
        "  igloo apply tidy --interactive\n",
    .run = RunApply,
    .first_word = Values::kChangeSet,
};

}  // namespace igloo::cli
