#include <unistd.h>

#include <cstdlib>

#include "agent/roster.h"
#include "base/text.h"
#include "cli/agent/check.h"
#include "cli/agent/enter.h"
#include "cli/agent/grant_options.h"
#include "cli/agent/launch.h"
#include "cli/agent/list.h"
#include "cli/agent/proposals.h"
#include "cli/commands.h"
#include "cli/net/network_options.h"
#include "cli/run/execute.h"
#include "cli/run/run_output.h"
#include "cli/run/wall.h"

namespace igloo::cli {
namespace {

/// The agent of a name, which the roster keeps.
Result<const agent::Profile*> FindAgent(const agent::Roster& roster, const std::string& name) {
  if (const agent::Profile* profile = roster.Find(name)) return profile;
  std::vector<std::string_view> names = {"list", "enter", "stop", "proposals"};
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

Result<LaunchRequest> Understand(const ParsedArgs& args, const agent::Roster& roster) {
  LaunchRequest request{.arguments = args.rest.value_or(std::vector<std::string>()),
                        .project = args.Get("--project").value_or(""),
                        .variables = args.All("--pass"),
                        .home = args.All("--home"),
                        .path = args.All("--path-add"),
                        .only_shown = args.Has("--dry-run") || args.Has("--summary"),
                        .propose = args.Has("--propose"),
                        .name = args.Get("--name").value_or(""),
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

Result<int> Launch(const ParsedArgs& args, Console& console) {
  IGLOO_ASSIGN(const config::Config config, ReadAgentConfig(args, console));
  IGLOO_ASSIGN(const agent::Roster roster, agent::Roster::Make(config));
  IGLOO_ASSIGN(const LaunchRequest request, Understand(args, roster));
  if (args.Has("--check")) return CheckBox(args, request, console);
  const bool dry_run = args.Has("--dry-run");
  IGLOO_ASSIGN(
      PreparedBox prepared,
      PrepareBox(args, request, config, dry_run ? Inherit::kNames : Inherit::kValues, console));
  if (prepared.changes && (dry_run || args.Has("--summary"))) prepared.changes->GiveUp();
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
  return RunBox(std::move(prepared), request, console);
}

Result<int> Stop(const ParsedArgs& args, Console& console) {
  if (args.words.size() != 2) {
    return Fail(Errc::kInvalidArgument, "'igloo agent stop' takes the name of one box",
                "'igloo agent list' shows those that run");
  }
  IGLOO_ASSIGN(const agent::BoxRegistry registry, OpenBoxes());
  IGLOO_ASSIGN(const agent::BoxInfo box, registry.Find(args.words[1]));
  IGLOO_TRY(registry.Stop(box));
  console.Out("box '" + box.name + "' has ended\n");
  return 0;
}

Result<int> Enter(const ParsedArgs& args) {
  if (args.words.size() != 2) {
    return Fail(Errc::kInvalidArgument, "'igloo agent enter' takes the name of one box",
                "'igloo agent list' shows those that run");
  }
  IGLOO_ASSIGN(const agent::BoxRegistry registry, OpenBoxes());
  IGLOO_ASSIGN(const agent::BoxInfo box, registry.Find(args.words[1]));
  return EnterBox(registry.SocketOf(box.name),
                  args.rest.value_or(std::vector<std::string>{"/bin/bash"}));
}

Result<int> Act(const ParsedArgs& args, Console& console) {
  const std::string_view word = args.words.empty() ? std::string_view() : args.words[0];
  if (word == "list")
    return args.Has("--available") ? ListAgents(args, console) : ListBoxes(args, console);
  if (word == "stop") return Stop(args, console);
  if (word == "enter") return Enter(args);
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
    {"stop", "end a box by its name"},
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
    {"--yes", "", "start without showing the summary and asking"},
    {"--summary", "", "show what the box would get, and stop"},
    {"--dry-run", "", "print the plan and stop"},
    {"--check", "", "say what is there and what is missing for it, and stop"},
    {"--available", "", "with list: the agents that can be started instead, yours too"},
    {"--json", "", "with list, --check, --summary and --dry-run: as JSON"},
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
        "       igloo agent (list [--available] | enter NAME [-- PROGRAM...] | stop NAME)\n"
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
        "  igloo agent list\n\n"
        "[agents.NAME] in the configuration adds agents of your own, and to those of igloo's.\n"
        "--check exits with 0, or with 1 when something is missing that the box needs.\n",
    .run = RunAgent,
};

}  // namespace igloo::cli
