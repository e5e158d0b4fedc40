#include <unistd.h>

#include <algorithm>
#include <cstdlib>

#include "backend/jail/jail.h"
#include "cli/commands.h"
#include "cli/console.h"
#include "cli/environments.h"
#include "cli/execute.h"
#include "cli/options.h"
#include "cli/programs.h"
#include "cli/relay.h"
#include "cli/terminal.h"

namespace igloo::cli {
namespace {

/// The one variable of the caller's that counts inside: what its terminal understands.
std::string TerminalType() {
  const char* type = std::getenv("TERM");
  const std::string_view text = type == nullptr ? "" : type;
  const bool fine =
      !text.empty() && text.size() <= 64 && std::ranges::all_of(text, [](unsigned char c) {
        return std::isalnum(c) != 0 || c == '-' || c == '+' || c == '.' || c == '_';
      });
  return fine ? std::string(text) : "xterm";
}

Result<sandbox::Plan> PlanForShell(const ParsedArgs& args) {
  const auto name = args.Get("--env");
  if (!name) {
    return Fail(Errc::kInvalidArgument, "no environment is named",
                "add --env shell, for example; 'igloo env list' names all");
  }
  if (!args.words.empty()) {
    return Fail(Errc::kInvalidArgument, "'igloo shell' takes no code",
                "use 'igloo run', or write a program behind '--'");
  }
  environment::RunRequest request{.time_ms = 0, .terminal = TerminalType()};
  IGLOO_TRY(ReadRequest(args, request));
  if (const auto timeout = args.Get("--timeout")) {
    IGLOO_ASSIGN(request.time_ms, ParseTimeout(*timeout));
  }
  IGLOO_ASSIGN(environment::Environment environment, FindEnvironment(*name));
  request.what = environment::Program{args.rest ? *args.rest : environment.shell};
  if (!args.rest && environment.shell.empty()) {
    return Fail(
        Errc::kFailedPrecondition, "environment '" + environment.name + "' has no shell",
        "name a program that it has: igloo shell --env " + environment.name + " -- PROGRAM");
  }
  environment.variables["PS1"] = "[igloo " + environment.name + "] \\w\\$ ";
  return PlanFor(environment, request);
}

Result<int> Start(const ParsedArgs& args, Console& console) {
  if (args.Has("--dry-run")) {
    IGLOO_ASSIGN(const sandbox::Plan plan, PlanForShell(args));
    console.Out(sandbox::Describe(plan));
    return 0;
  }
  if (::isatty(STDIN_FILENO) != 1 || ::isatty(STDOUT_FILENO) != 1) {
    return Fail(Errc::kFailedPrecondition,
                "'igloo shell' needs a terminal on standard input and output",
                "without one, use 'igloo run --env NAME -- PROGRAM'");
  }
  IGLOO_ASSIGN(const auto programs, FindPrograms());
  backend::jail::JailBackend jail(programs, backend::jail::Mode::kCold);
  IGLOO_ASSIGN(const sandbox::Plan plan, PlanForShell(args));
  cgroup::Groups groups(cgroup::Find());
  IGLOO_ASSIGN(auto group, TakeGroup(groups, plan));
  IGLOO_ASSIGN(Pty pty, OpenPty(STDIN_FILENO));
  IGLOO_ASSIGN(const session::RunResult result,
               RunOnTerminal(plan, jail, std::move(pty), std::move(group), console));
  jail.Abandon();
  if (result.verdict == session::Verdict::kTimeout) {
    console.Note("the shell was stopped at its time limit");
  }
  return result.exit_code;
}

Result<int> RunShell(const ParsedArgs& args, Console& console) {
  const auto code = Start(args, console);
  if (code) return code;
  console.Report(code.error());
  return ExitCodeFor(code.error());
}

constexpr Flag kFlags[] = {
    {"--env", "NAME", "environment; 'igloo env list' shows them", Values::kEnvironment},
    {"--project", "DIR[:MODE]", "show DIR at /project; MODE is ro (default) or overlay",
     Values::kDirectory},
    {"--timeout", "SECONDS", "end it after this time (default: never)"},
    {"--memory", "MB", "memory it may use (default: the environment's)"},
    {"--network", "TIER", "none (default); allow, internet and host are not available yet",
     Values::kChoices, "none"},
    {"--dry-run", "", "print the plan and stop"},
};

}  // namespace

const Command kShellCommand = {
    .name = "shell",
    .summary = "work in an environment by hand",
    .usage = "--env NAME [OPTIONS] [-- PROGRAM ARGS...]",
    .flags = kFlags,
    .words = {},
    .details =
        "The shell has a terminal of its own that igloo passes keys and output to; yours stays\n"
        "outside. Nothing that is made inside is left when it ends.\n\n"
        "Examples:\n"
        "  igloo shell --env shell\n"
        "  igloo shell --env python --project . -- python3\n",
    .run = RunShell,
};

}  // namespace igloo::cli
