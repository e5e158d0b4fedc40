#include "base/text.h"
#include "cli/commands.h"
#include "cli/console.h"
#include "cli/session/repl.h"

namespace igloo::cli {
namespace {

Result<int> RunRepl(const ParsedArgs& args, Console& console) {
  if (!args.words.empty() || args.rest) {
    return Fail(Errc::kInvalidArgument, "'igloo repl' takes no code",
                "type it at the prompt, or use 'igloo run'");
  }
  const auto environment = args.Get("--env");
  if (const auto id = args.Get("--session")) {
    IGLOO_ASSIGN(const FoundSession session, FindSession(*id, args.Get("--server")));
    if (environment && *environment != session.environment) {
      return Fail(Errc::kInvalidArgument,
                  "session '" + Printable(*id) + "' belongs to environment '" +
                      Printable(session.environment) + "'",
                  "leave --env out");
    }
    const auto partner = AttachTo(session);
    return Converse(*partner, console);
  }
  if (args.Has("--server")) {
    return Fail(Errc::kInvalidArgument, "--server says something about --session only",
                "add --session ID, or leave it out");
  }
  if (!environment) {
    return Fail(Errc::kInvalidArgument, "no environment is named",
                "add --env python, for example; 'igloo env list' names all");
  }
  IGLOO_ASSIGN(const auto partner, BeginAlone(args, *environment, console));
  return Converse(*partner, console);
}

constexpr Flag kFlags[] = {
    {"--env", "NAME", "environment; 'igloo env list' shows them", Values::kEnvironment},
    {"--session", "ID", "a session that a model works in, instead of one of your own"},
    {"--server", "PID", "the server whose session is meant, when several have one of that name"},
    {"--project", "DIR[:MODE]", "show DIR at /project; MODE is ro (default) or overlay",
     Values::kDirectory},
    {"--no-project", "", "show no project, also when the configuration names one"},
    {"--config", "FILE", "configuration, instead of the one in the usual place", Values::kFile},
};

}  // namespace

const Command kReplCommand = {
    .name = "repl",
    .summary = "a prompt in an environment with sessions",
    .usage = "--env NAME | --session ID [OPTIONS]",
    .flags = kFlags,
    .words = {},
    .details =
        "Variables last from line to line, as they do for a model with a session. Ctrl-C "
        "interrupts\n"
        "the code, Tab completes names, the arrow keys bring lines back, Ctrl-D ends. Standard "
        "input\n"
        "that is no terminal is read as lines.\n\n"
        "Examples:\n"
        "  igloo repl --env python\n"
        "  igloo repl --session data\n",
    .run = RunRepl,
};

}  // namespace igloo::cli
