#include <unistd.h>

#include "cli/commands.h"
#include "cli/config/configure.h"
#include "cli/config/settings.h"
#include "cli/console.h"
#include "cli/net/network_options.h"
#include "cli/options.h"
#include "cli/run/execute.h"
#include "cli/run/relay.h"
#include "cli/run/run_output.h"
#include "cli/run/wall.h"
#include "cli/terminal.h"
#include "service/programs.h"
#include "session/network/device.h"

namespace igloo::cli {
namespace {

Result<void> CheckWords(const ParsedArgs& args) {
  if (!args.Has("--env")) {
    return Fail(Errc::kInvalidArgument, "no environment is named",
                "add --env shell, for example; 'igloo env list' names all");
  }
  if (!args.words.empty()) {
    return Fail(Errc::kInvalidArgument, "'igloo shell' takes no code",
                "use 'igloo run', or write a program behind '--'");
  }
  return {};
}

/// What is on the terminal, and behind which wall.
struct Prepared {
  sandbox::Plan plan = {};
  const wall::Wall* backend = &wall::kDefault;
  network::Wanted network = {};
  std::string resolver = {}, kernel = {};
  config::AuditConfig audit = {};
};

Result<Prepared> Prepare(const ParsedArgs& args, Inherit inherit, Console& console) {
  // Whoever works by hand is not stopped by a limit that is meant for runs.
  environment::RunRequest request{.time_ms = 0, .terminal = TerminalType()};
  IGLOO_TRY(ReadRequest(args, request));
  IGLOO_ASSIGN(config::Configured chosen, Configure(args, inherit, request, console));
  environment::Environment& environment = chosen.environment;
  request.what = environment::Program{args.rest ? *args.rest : environment.shell};
  if (!args.rest && environment.shell.empty()) {
    return Fail(
        Errc::kFailedPrecondition, "environment '" + environment.name + "' has no shell",
        "name a program that it has: igloo shell --env " + environment.name + " -- PROGRAM");
  }
  environment.variables["PS1"] = "[igloo " + environment.name + "] \\w\\$ ";
  IGLOO_ASSIGN(sandbox::Plan plan, PlanFor(environment, request));
  const std::string missing =
      session::MissingDevice(plan.network, request.resolver, *chosen.backend);
  if (!missing.empty()) console.Note(missing);
  return Prepared{std::move(plan), chosen.backend, std::move(request.network),
                  chosen.resolver, chosen.kernel,  chosen.audit};
}

Result<int> Start(const ParsedArgs& args, Console& console) {
  IGLOO_TRY(CheckWords(args));
  if (args.Has("--dry-run")) {
    IGLOO_ASSIGN(const Prepared prepared, Prepare(args, Inherit::kNames, console));
    console.Out(sandbox::Describe(prepared.plan));
    return 0;
  }
  if (::isatty(STDIN_FILENO) != 1 || ::isatty(STDOUT_FILENO) != 1) {
    return Fail(Errc::kFailedPrecondition,
                "'igloo shell' needs a terminal on standard input and output",
                "without one, use 'igloo run --env NAME -- PROGRAM'");
  }
  IGLOO_ASSIGN(const auto programs, service::FindPrograms());
  Wall wall(programs, false);
  IGLOO_ASSIGN(const Prepared prepared, Prepare(args, Inherit::kValues, console));
  WarnOfRights(prepared.network, console);
  IGLOO_ASSIGN(backend::Backend * backend,
               wall.Choose(*prepared.backend, prepared.kernel, console));
  cgroup::Groups groups(cgroup::Find());
  session::RunIo io{.network = session::OwnNetwork{prepared.network,
                                                   service::ProxyFor(programs, prepared.resolver)}};
  const std::string unlimited = session::UnlimitedCpus(groups.found(), prepared.plan);
  if (!unlimited.empty()) console.Note(unlimited);
  IGLOO_ASSIGN(io.group, TakeGroup(groups, prepared.plan));
  IGLOO_ASSIGN(Pty pty, OpenPty(STDIN_FILENO));
  IGLOO_ASSIGN(const session::RunResult result,
               RunOnTerminal(prepared.plan, *backend, std::move(pty), std::move(io), prepared.audit,
                             console));
  SayWhatWasRefused(result.refused, console);
  SayWhatWasPutRight(result.put_right, console);
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
    {"--no-project", "", "show no project, also when the configuration names one"},
    kShowHiddenFlag,
    {"--timeout", "SECONDS",
     "end it after this time (default: never, also when runs have a limit)"},
    {"--memory", "MB", "memory it may use (default: the environment's)"},
    kNetworkFlag,
    kAllowFlag,
    kDenyFlag,
    kPublishFlag,
    kReachFlag,
    kSecretFlag,
    kRawSocketsFlag,
    kBackendFlag,
    {"--config", "FILE", "configuration, instead of the one in the usual place", Values::kFile},
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
