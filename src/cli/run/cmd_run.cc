#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <optional>
#include <utility>

#include "backend/registry.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/scope_exit.h"
#include "base/text.h"
#include "cli/commands.h"
#include "cli/config/configure.h"
#include "cli/config/settings.h"
#include "cli/console.h"
#include "cli/net/network_options.h"
#include "cli/options.h"
#include "cli/run/execute.h"
#include "cli/run/run_output.h"
#include "cli/run/wall.h"
#include "environment/run_policy.h"
#include "environment/work_tree.h"
#include "service/changes/change_set.h"
#include "service/programs.h"
#include "session/network/device.h"
#include "session/parts.h"
#include "session/run.h"

namespace igloo::cli {
namespace {

namespace changes = service::changes;

constexpr std::size_t kMaxCode = 64U << 20;

/// The command line of `igloo run`, understood.
struct RunOptions {
  environment::RunRequest request = {};
  const wall::Wall* backend = nullptr;   ///< null: the configuration says
  const wall::Wall* shown_as = nullptr;  ///< whose command is printed; null: the plan is
  bool json = false, dry_run = false, timing = false;
  bool code_from_input = false;
};

Result<void> ReadCode(const ParsedArgs& args, RunOptions& options) {
  const auto file = args.Get("--file");
  const int given = (file ? 1 : 0) + (args.words.empty() ? 0 : 1) + (args.rest ? 1 : 0);
  if (given > 1 || args.words.size() > 1) {
    return Fail(Errc::kInvalidArgument, "there is more than one thing to run",
                "give code in quotes, or '-', or --file F, or -- PROGRAM ARGS");
  }
  if (args.rest) {
    if (args.rest->empty() || args.rest->front().empty()) {
      return Fail(Errc::kInvalidArgument, "there is no program behind '--'",
                  "write one, for example: -- /usr/bin/env");
    }
    options.request.what = environment::Program{*args.rest};
    return {};
  }
  std::string code;
  if (file) {
    auto read = ReadFile(*file, kMaxCode);
    if (!read) {
      Error error = std::move(read).error();
      error.hint = "--file takes a readable file with at most 64 MB of code";
      return std::unexpected(std::move(error));
    }
    code = *std::move(read);
  } else if (args.words.empty() && !args.Has("--artifact")) {
    return Fail(Errc::kInvalidArgument, "there is nothing to run",
                "give code in quotes, '-' to read it from standard input, --file F, or -- PROGRAM");
  } else if (args.words.empty() || args.words[0] == "-") {
    auto read = ReadAll(STDIN_FILENO, kMaxCode);
    if (!read) return Wrap("reading code from standard input", std::move(read).error());
    code = *std::move(read);
    options.code_from_input = true;
  } else {
    code = args.words[0];
  }
  options.request.what = environment::Code{std::move(code)};
  return {};
}

Result<RunOptions> Understand(const ParsedArgs& args) {
  RunOptions options;
  if (!args.Has("--env") && !args.Has("--artifact")) {
    return Fail(Errc::kInvalidArgument, "no environment is named",
                "add --env shell, for example; 'igloo env list' names all");
  }
  if (args.Has("--env") && args.Has("--artifact")) {
    return Fail(Errc::kInvalidArgument, "'--env' and '--artifact' both name an environment",
                "leave one of them out");
  }
  IGLOO_TRY(ReadRequest(args, options.request));
  if (const auto backend = args.Get("--backend")) {
    IGLOO_ASSIGN(options.backend, wall::Choose(*backend));
  }
  options.json = args.Has("--json");
  options.dry_run = args.Has("--dry-run");
  options.timing = args.Has("--timing");
  if (options.dry_run && args.Has("--keep")) {
    return Fail(Errc::kInvalidArgument, "'--keep' begins something, and --dry-run does not",
                "leave one of them out");
  }
  if (const auto as = args.Get("--as")) {
    options.shown_as = wall::FindShownAs(*as);
    if (options.shown_as == nullptr || !options.dry_run) {
      return Fail(Errc::kInvalidArgument, "'--as' can only be 'bwrap', together with --dry-run",
                  "write --dry-run --as bwrap");
    }
  }
  IGLOO_TRY(ReadCode(args, options));
  return options;
}

/// Standard input for the program, unless there is none to pass on.
UniqueFd OpenInput(const RunOptions& options) {
  struct stat info{};
  const bool is_null =
      ::fstat(STDIN_FILENO, &info) != 0 || (S_ISCHR(info.st_mode) && info.st_rdev == makedev(1, 3));
  if (options.code_from_input || is_null || ::isatty(STDIN_FILENO) == 1) return UniqueFd();
  UniqueFd fd;
  // A pipe is opened anew: making the caller's own description non-blocking would change it for
  // everybody who shares it. A file is not: it would begin again.
  if (S_ISFIFO(info.st_mode)) {
    fd.Reset(::open("/proc/self/fd/0", O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  }
  if (!fd) fd.Reset(::fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3));
  return fd;
}

/// Output as it comes, or nothing but the captured text for --json.
Result<session::RunResult> ExecuteLive(const RunOptions& options, const sandbox::Plan& plan,
                                       std::uint64_t kept, backend::Backend& backend,
                                       cgroup::Groups& groups, session::Proxy::Options proxy,
                                       const config::AuditConfig& audit, Console& console) {
  session::RunIo io{.input = OpenInput(options),
                    .capture_limit = kept,
                    .network = session::OwnNetwork{options.request.network, std::move(proxy)}};
  IGLOO_ASSIGN(io.group, TakeGroup(groups, plan));
  if (options.json) {
    // What nobody will read is not worth waiting for.
    io.output_limit = 128 * io.capture_limit;
  } else {
    io.capture_limit = 0;
    io.live = {STDOUT_FILENO, STDERR_FILENO};
  }
  return ExecuteMonitored(plan, backend, std::move(io), audit,
                          [&](std::string_view text) { console.Note(text); });
}

void SayHowItEnded(const sandbox::Plan& plan, const sandbox::Limits& limits,
                   const session::RunResult& result, Console& console) {
  const bool timeout = result.verdict == session::Verdict::kTimeout;
  if (timeout && limits.cpu_seconds != 0 && result.usage.cause == wire::EndCause::kItself) {
    console.Note(
        fmt::format("the code was killed at its limit of {} s of processor time; "
                    "'cpu_seconds' in the configuration gives it more",
                    limits.cpu_seconds));
  } else if (timeout) {
    console.Note("the code was stopped at its time limit of " +
                 fmt::format("{:g}", static_cast<double>(plan.payload.time_ms) / 1000.0) +
                 " s; --timeout SECONDS gives it more");
  } else if (result.verdict == session::Verdict::kMemory) {
    console.Note("the code was killed: all its processes together used more than its " +
                 HumanBytes(plan.payload.memory_bytes) + " of memory; --memory MB gives it more");
  } else if (result.verdict == session::Verdict::kProcesses) {
    console.Note("the code ran into its limit on processes");
  } else if (result.verdict == session::Verdict::kDisk) {
    console.Note("the code filled its space for files, or wrote a file larger than it may");
  } else if (result.verdict == session::Verdict::kSignal) {
    console.Note("the code was ended by signal " + std::to_string(result.signal));
  }
}

Result<int> DryRun(const ParsedArgs& args, RunOptions& options, Console& console) {
  IGLOO_ASSIGN(const auto chosen, Configure(args, Inherit::kNames, options.request, console));
  IGLOO_ASSIGN(const sandbox::Plan plan, PlanFor(chosen.environment, options.request));
  if (options.shown_as != nullptr) {
    IGLOO_ASSIGN(const auto programs, service::FindPrograms());
    IGLOO_ASSIGN(const std::string command, backend::Show(*options.shown_as, plan, programs));
    console.Out(command);
  } else {
    console.Out(options.json ? sandbox::ToJson(plan) + "\n" : sandbox::Describe(plan));
  }
  return 0;
}

/// --keep: what is written to the project becomes a change set.
Result<std::optional<changes::OpenChangeSet>> KeepChanges(const ParsedArgs& args,
                                                          const wall::Wall& wall,
                                                          environment::RunRequest& request) {
  const auto name = args.Get("--keep");
  if (!name) return std::nullopt;
  if (!request.project || request.project->mode != environment::ProjectMode::kOverlay) {
    return Fail(Errc::kInvalidArgument, "'--keep' keeps what is written to a copy of a project",
                "name one: --project DIR:overlay");
  }
  if (!wall.can.views) {
    return Fail(Errc::kFailedPrecondition,
                std::string(wall.name) + " cannot show a project copy-on-write",
                "use --backend " + std::string(wall::kDefault.name) + ", or leave it out");
  }
  IGLOO_ASSIGN(const auto tree, environment::FindWorkTree(request.project->path));
  if (tree.elsewhere && !tree.linked()) {
    return Fail(Errc::kFailedPrecondition,
                "'" + Printable(request.project->path) +
                    "' is a submodule, whose repository knows it at its own path alone, and code "
                    "sees a project at " +
                    request.project->mount_point,
                "igloo agent --cmd PROGRAM --propose shows it at its own path; or work on a clone");
  }
  IGLOO_ASSIGN(
      auto open,
      changes::Begin({.name = *name, .project = request.project->path, .by = "igloo run"}));
  request.project->changes = open.layer();
  if (!open.set().repository.empty()) {
    request.project->repository =
        environment::Repository{.path = open.set().repository, .changes = open.repository_layer()};
  }
  return open;
}

using Parts = std::vector<session::Part>;

Parts ReadDisplayed(const session::RunResult& result, const environment::Environment& environment) {
  if (result.handed_out.size() < 2) return {};
  const UniqueFd displayed = session::OpenDisplayed(result.handed_out[1].get());
  if (!displayed) return {};
  return session::PartsFrom(session::ReadLeftovers(
      displayed.get(), {}, session::DisplayLimits(environment.room.output_bytes)));
}

Result<int> RunForReal(const ParsedArgs& args, RunOptions& options, Console& console,
                       std::uint64_t main_micros) {
  IGLOO_ASSIGN(const auto programs, service::FindPrograms());
  Wall wall(programs, options.timing);
  // It starts while we read and plan.
  IGLOO_TRY(wall.Warm(options.backend != nullptr ? *options.backend : wall::kDefault));
  cgroup::Groups groups(cgroup::Find());
  IGLOO_ASSIGN(const auto chosen, Configure(args, Inherit::kValues, options.request, console));
  WarnOfRights(options.request.network, console);
  IGLOO_ASSIGN(backend::Backend * backend, wall.Choose(*chosen.backend, chosen.kernel, console));
  options.request.hand_out = chosen.backend->can.hands_out;
  const bool displays = environment::DisplaysParts(chosen.environment, options.request);
  options.request.hand_out = displays;
  IGLOO_ASSIGN(auto kept, KeepChanges(args, *chosen.backend, options.request));
  // A run that never began leaves no change set.
  ScopeExit give_up([&] {
    if (kept) kept->GiveUp();
  });
  IGLOO_ASSIGN(const sandbox::Plan plan, PlanFor(chosen.environment, options.request));
  const std::string missing =
      session::MissingDevice(plan.network, options.request.resolver, *chosen.backend);
  if (!missing.empty()) console.Note(missing);
  const std::string unlimited = session::UnlimitedCpus(groups.found(), plan);
  if (!unlimited.empty()) console.Note(unlimited);
  IGLOO_ASSIGN(const session::RunResult result,
               ExecuteLive(options, plan, chosen.environment.room.output_bytes, *backend, groups,
                           service::ProxyFor(programs, chosen.resolver), chosen.audit, console));
  if (auto open = std::exchange(kept, std::nullopt)) {
    IGLOO_TRY(open->Close());
    if (!options.json) {
      console.Note("what the code changed is kept: igloo changes show " + open->set().name);
    }
  }
  // A person is told of them; whoever reads the output by a program has not lost any of it.
  const bool for_person = ::isatty(STDERR_FILENO) == 1;
  const bool read = displays && (options.json || for_person);
  const auto parts = read ? ReadDisplayed(result, chosen.environment) : Parts();
  if (options.json) {
    console.Out(ResultJson(result, parts));
  } else {
    SayWhatWasDisplayed(parts, console);
    SayHowItEnded(plan, chosen.environment.limits, result, console);
    SayWhatWasRefused(result.refused, console);
    SayWhatWasPutRight(result.put_right, console);
  }
  if (options.timing) console.Err(TimelineText(result, main_micros));
  return result.exit_code;
}

Result<int> RunRun(const ParsedArgs& args, Console& console) {
  const auto main_micros = static_cast<std::uint64_t>(MonotonicMicros());
  const bool json = args.Has("--json");
  Result<int> code = [&]() -> Result<int> {
    IGLOO_ASSIGN(RunOptions options, Understand(args));
    return options.dry_run ? DryRun(args, options, console)
                           : RunForReal(args, options, console, main_micros);
  }();
  if (code) return code;
  if (json) {
    console.Out(ErrorJson(code.error()));
  } else {
    console.Report(code.error());
  }
  return ExitCodeFor(code.error());
}

constexpr Flag kFlags[] = {
    {"--env", "NAME", "environment; 'igloo env list' shows them", Values::kEnvironment},
    {"--artifact", "DIR", "the environment that mkSandbox made in DIR; code from standard input",
     Values::kDirectory},
    {"--file", "FILE", "run the code in FILE", Values::kFile},
    {"--project", "DIR[:MODE]", "show DIR at /project; MODE is ro (default) or overlay",
     Values::kDirectory},
    {"--keep", "NAME", "keep what is written to an overlay project as changes called NAME"},
    {"--no-project", "", "show no project, also when the configuration names one"},
    kShowHiddenFlag,
    {"--timeout", "SECONDS", "stop the code after this time (default: the environment's)"},
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
    {"--json", "", "print one JSON document instead of live output"},
    {"--dry-run", "", "print the plan and stop"},
    {"--as", "bwrap", "with --dry-run: print the plan as a bubblewrap command", Values::kChoices,
     "bwrap"},
    {"--timing", "", "say on standard error where the time went"},
};

}  // namespace

const Command kRunCommand = {
    .name = "run",
    .summary = "run code in a fresh sandbox",
    .usage =
        "(--env NAME | --artifact DIR) [OPTIONS] (CODE | - | --file FILE | -- PROGRAM ARGS...)",
    .flags = kFlags,
    .words = {},
    .details =
        "The code sees the host's /usr read-only, /workspace and /tmp of its own, the network "
        "that\n"
        "it was given and nothing else. Its exit code is passed on; 124 means it hit the time "
        "limit, 125-127 are\n"
        "igloo's own failures. Ctrl-C interrupts the code, a second one kills it.\n"
        "What is written here beats the configuration; 'igloo config path' says which file that\n"
        "is.\n\n"
        "Examples:\n"
        "  igloo run --env python 'print(6 * 7)'\n"
        "  igloo run --env shell --project . 'ls /project'\n"
        "  igloo run --env shell --project .:overlay --keep tidy 'rm /project/*.orig'\n"
        "  echo 'console.log(1)' | igloo run --env node -\n"
        "  igloo run --env shell -- gcc --version\n"
        "  igloo run --env shell --allow example.org 'curl https://example.org/'\n",
    .run = RunRun,
};

}  // namespace igloo::cli
