#include <unistd.h>

#include <cstdlib>

#include "agent/roster.h"
#include "base/text.h"
#include "cli/agent/check.h"
#include "cli/agent/grant_options.h"
#include "cli/agent/launch.h"
#include "cli/agent/list.h"
#include "cli/agent/proposals.h"
#include "cli/agent/running.h"
#include "cli/agent/tmux_launch.h"
#include "cli/agent/why.h"
#include "cli/commands.h"
#include "cli/config/settings.h"
#include "cli/net/network_options.h"
#include "cli/run/execute.h"
#include "cli/run/run_output.h"
#include "cli/run/wall.h"
#include "service/programs.h"

namespace igloo::cli {
namespace {

/// The agent of a name, which the roster keeps.
Result<const agent::Profile*> FindAgent(const agent::Roster& roster, const std::string& name) {
  if (const agent::Profile* profile = roster.Find(name)) return profile;
  std::vector<std::string_view> names = {"list",   "enter", "attach", "stop",     "pause",
                                         "resume", "gc",    "why",    "proposals"};
  std::string known;
  for (const agent::Profile* each : roster.all()) {
    names.push_back(each->name);
    known += (known.empty() ? "" : ", ") + std::string(each->name);
  }
  const std::string nearest = Nearest(name, names.data(), names.size());
  return Fail(Errc::kInvalidArgument, "'igloo agent' does not know '" + Printable(name) + "'",
              nearest.empty()
                  ? "it knows " + known +
                        "; another program: igloo agent --cmd PROGRAM; your own agents: "
                        "[agents.NAME] in the configuration"
                  : "did you mean '" + nearest + "'?");
}

/// It is to run in a terminal of igloo's own. This igloo then only shows what the box gets.
bool WantsTmux(const ParsedArgs& args) { return args.Has("--tmux") || args.Has("--background"); }

Result<LaunchRequest> Understand(const ParsedArgs& args, const agent::Roster& roster) {
  LaunchRequest request{
      .arguments = args.rest.value_or(std::vector<std::string>()),
      .project = args.Get("--project").value_or(""),
      .variables = args.All("--pass"),
      .home = args.All("--home"),
      .path = args.All("--path-add"),
      .only_shown = args.Has("--dry-run") || args.Has("--summary") || WantsTmux(args),
      .propose = args.Has("--propose"),
      .name = args.Get("--name").value_or(""),
      .learn = args.Get("--learn"),
      .grants = ReadGrants(args)};
  if (args.words.size() > 1) {
    return Fail(Errc::kInvalidArgument, "'" + Printable(args.words[1]) + "' is one word too many",
                "words for the agent stand behind '--': igloo agent " + Printable(args.words[0]) +
                    " -- " + ShellQuote(Printable(args.words[1])));
  }
  if (const auto program = args.Get("--cmd")) {
    if (!args.words.empty()) {
      return Fail(Errc::kInvalidArgument, "'--cmd' and an agent's name contradict each other",
                  "leave one of them out");
    }
    request.program = *program;
    return request;
  }
  if (args.words.empty()) IGLOO_TRY(TakeWord(kAgentCommand, args));
  IGLOO_ASSIGN(request.profile, FindAgent(roster, args.words[0]));
  return request;
}

/// A person is asked; without one somebody has to have said yes.
Result<bool> Agreed(const ParsedArgs& args, const PreparedBox& prepared, Console& console) {
  if (args.Has("--yes")) return true;
  const bool colours = ::isatty(STDERR_FILENO) == 1 && std::getenv("NO_COLOR") == nullptr;
  console.Err(SummaryText(prepared, colours));
  if (::isatty(STDIN_FILENO) != 1) {
    return Fail(Errc::kFailedPrecondition, "nobody can be asked: standard input is no terminal",
                "look at what the box gets above, then add --yes");
  }
  console.Err("Proceed? [Y/n] ");
  return ReadYes();
}

/// The same command once more, in the terminal that it gets and without its question.
Result<int> LaunchInTmux(const ParsedArgs& args, const std::string& name, Console& console) {
  IGLOO_ASSIGN(const std::string igloo, service::FindIgloo());
  return StartInTmux({.name = name,
                      .how = args.Has("--name") ? agent::BoxRegistry::Name::kExactly
                                                : agent::BoxRegistry::Name::kOrNext,
                      .command =
                          [&](const std::string& free) {
                            ParsedArgs inside = args;
                            for (const char* each : {"--tmux", "--background"})
                              inside.flags.erase(each);
                            inside.flags["--yes"] = "";
                            inside.flags["--name"] = free;
                            std::vector<std::string> words = WordsOf(kAgentCommand, inside);
                            words.insert(words.begin(), {igloo, "agent"});
                            return words;
                          },
                      .show = !args.Has("--background")},
                     console);
}

Result<int> Launch(const ParsedArgs& args, Console& console) {
  IGLOO_ASSIGN(const config::Config config, ReadAgentConfig(args, console));
  IGLOO_ASSIGN(const agent::Roster roster, agent::Roster::Make(config));
  IGLOO_ASSIGN(const LaunchRequest request, Understand(args, roster));
  if (args.Has("--check")) return CheckBox(args, request, console);
  const bool dry_run = args.Has("--dry-run");
  IGLOO_ASSIGN(
      PreparedBox prepared,
      PrepareBox(args, request, config, dry_run ? Inherit::kNames : Inherit::kValues, console));
  if (prepared.changes && request.only_shown) prepared.changes->GiveUp();
  if (dry_run) {
    console.Out(args.Has("--json") ? sandbox::ToJson(prepared.plan) + "\n"
                                   : sandbox::Describe(prepared.plan));
    return 0;
  }
  if (args.Has("--summary")) {
    const bool json = args.Has("--json");
    console.Out(json ? SummaryJson(prepared) : SummaryText(prepared, console.out_is_terminal()));
    return 0;
  }
  WarnOfRights(prepared.network, console);
  IGLOO_ASSIGN(const bool agreed, Agreed(args, prepared, console));
  if (!agreed) {
    if (prepared.changes) prepared.changes->GiveUp();
    console.Note("nothing was started");
    return 1;
  }
  if (WantsTmux(args)) {
    const std::string name = prepared.box.name;
    {
      const PreparedBox shown = std::move(prepared);
    }
    return LaunchInTmux(args, name, console);
  }
  return RunBox(std::move(prepared), request, console);
}

Result<int> Act(const ParsedArgs& args, Console& console) {
  const std::string_view word = args.words.empty() ? std::string_view() : args.words[0];
  if (word == "list")
    return args.Has("--available") ? ListAgents(args, console) : ListBoxes(args, console);
  if (const auto act = FindBoxVerb(word)) return act(args, console);
  if (word == "why") return Why(args, console);
  if (word == "proposals") return Proposals(args, console);
  return Launch(args, console);
}

Result<int> RunAgent(const ParsedArgs& args, Console& console) {
  const Result<int> code = Act(args, console);
  if (code) return code;
  if (args.Has("--json")) {
    console.Out(ErrorJson(code.error()));
  } else {
    console.Report(code.error());
  }
  return ExitCodeFor(code.error());
}

constexpr Word kWords[] = {
    {"claude", "Claude Code"},
    {"codex", "Codex"},
    {"gemini", "Gemini CLI"},
    {"opencode", "opencode"},
    {"aider", "aider"},
    {"list", "the boxes that run"},
    {"enter", "a shell in a box that runs, or the program behind '--'"},
    {"attach", "show the terminal of a box that was started with --tmux"},
    {"pause", "stop all of a box's processes until 'resume'; they use no processor"},
    {"resume", "let a paused box go on"},
    {"stop", "end a box by its name"},
    {"gc", "remove what boxes left that belongs to nothing any more"},
    {"why", "what a box was refused, and what would allow it; also after its end"},
    {"proposals",
     "what boxes changed in settings and your own agent would run: show, confirm, drop"},
};

/// As everywhere, with the default of a box.
constexpr Flag BoxNetworkFlag() {
  Flag flag = kNetworkFlag;
  flag.description = "what it reaches: none, allow, internet (default) or host";
  return flag;
}

constexpr Flag kBoxFlags[] = {
    {"--cmd", "PROGRAM", "another program instead of an agent that igloo knows", Values::kFile},
    {"--project", "DIR", "the project (default: where you are)", Values::kDirectory},
    {"--propose", "", "let it work on a copy; 'igloo apply' takes its changes, or some of them"},
    {"--name", "NAME", "of the box (default: agent and project)"},
    {"--tmux", "", "give it a terminal that stays when yours goes; Ctrl-B D leaves it running"},
    {"--background", "", "the same, without showing it; 'igloo agent attach NAME' does"},
    {"--learn", "[FILE]",
     "write down what it uses, as a profile to look at (default: a file of igloo's); slower",
     Values::kFile},
    {"--yes", "", "start without showing the summary and asking"},
    {"--summary", "", "show what the box would get, and stop"},
    {"--dry-run", "", "print the plan and stop; with gc: remove nothing"},
    {"--check", "", "say what is there and what is missing for it, and stop"},
    {"--available", "", "with list: the agents that can be started instead, yours too"},
    {"--json", "", "with list, why, gc, --check, --summary and --dry-run: as JSON"},
    {"--env", "NAME", "the environment that the box is made from (default: shell)",
     Values::kEnvironment},
    {"--memory", "MB", "memory that all its processes may use (default: three quarters of it)"},
    {.name = "--pass",
     .value = "VARIABLE",
     .description = "pass on this variable of yours; again for more",
     .times = Times::kOften},
    {.name = "--home",
     .value = "SUBDIR",
     .description = "show this directory of your home, to write to; again for more",
     .values = Values::kDirectory,
     .times = Times::kOften},
    {.name = "--path-add",
     .value = "DIR",
     .description = "put this directory in front of PATH inside; again for more",
     .times = Times::kOften},
    BoxNetworkFlag(),
    kAllowFlag,
    kDenyFlag,
    kPublishFlag,
    kReachFlag,
    kSecretFlag,
    kShowHiddenFlag,
    kBackendFlag,
    {"--config", "FILE", "configuration, instead of the one in the usual place", Values::kFile},
};
constexpr auto kFlags = WithGrants(kBoxFlags);

}  // namespace

const Command kAgentCommand = {
    .name = "agent",
    .summary = "run a coding agent around a project, with nothing else of yours",
    .usage =
        "(AGENT | --cmd PROGRAM) [OPTIONS] [-- AGENT'S ARGUMENTS...]\n"
        "       igloo agent (list [--available] | enter NAME [-- PROGRAM...])\n"
        "       igloo agent (attach | pause | resume | stop) NAME\n"
        "       igloo agent gc [--dry-run]\n"
        "       igloo agent why [BOX] [--json]\n"
        "       igloo agent proposals [(show | confirm | drop) ID]",
    .flags = kFlags,
    .words = kWords,
    .details =
        "The agent sees the project at its real path and can change it. It has a home of its own\n"
        "with its own settings and none of your other files. It reaches the internet, but no\n"
        "private address and nothing of this machine (--network none or allow for less). igloo\n"
        "shows what the box gets and asks before it starts; the agent's exit code is passed on.\n\n"
        "Examples:\n"
        "  igloo agent claude\n"
        "  igloo agent codex --network allow -- exec 'fix the tests'\n"
        "  igloo agent --cmd bash --yes -- -c 'git status'\n"
        "  igloo agent list\n"
        "  igloo agent why\n\n"
        "[agents.NAME] in the configuration adds agents of your own, and to those of igloo's.\n"
        "--check exits with 0, or with 1 when something is missing that the box needs.\n",
    .run = RunAgent,
};

}  // namespace igloo::cli
