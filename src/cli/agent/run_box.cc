#include <fcntl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <algorithm>
#include <ctime>

#include "agent/tmux_terminal.h"
#include "base/text.h"
#include "cli/agent/attendance.h"
#include "cli/agent/box_watch.h"
#include "cli/agent/enter.h"
#include "cli/agent/hidden_watch.h"
#include "cli/agent/launch.h"
#include "cli/agent/obeyed_report.h"
#include "cli/run/execute.h"
#include "cli/run/relay.h"
#include "cli/run/run_output.h"
#include "cli/terminal.h"
#include "service/programs.h"
#include "session/network/device.h"
#include "session/prepare.h"

namespace igloo::cli {
namespace {

std::string AgentOf(const LaunchRequest& request) {
  return request.profile != nullptr ? std::string(request.profile->name) : request.program;
}

/// Standard input for the agent, unless a person sits there.
UniqueFd OpenInput() {
  struct stat info{};
  const bool is_null =
      ::fstat(STDIN_FILENO, &info) != 0 || (S_ISCHR(info.st_mode) && info.st_rdev == makedev(1, 3));
  if (is_null || ::isatty(STDIN_FILENO) == 1) return UniqueFd();
  return UniqueFd(::fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3));
}

/// Told at once: in the terminal's title, because the agent draws on the screen.
std::shared_ptr<HiddenWatch> WatchHidden(const agent::Box& box,
                                         const std::shared_ptr<std::vector<std::string>>& uncovered,
                                         Console& console) {
  return std::make_shared<HiddenWatch>(box, [uncovered, &console](std::string_view path) {
    uncovered->emplace_back(path);
    const std::string text = "the box can read '" + Printable(path) + "' now";
    if (!HasTerminal()) return console.Note(text + ": another file took its place");
    console.Out("\x1b]2;igloo: " + text + "\a");
  });
}

void SayWhatWasUncovered(const std::vector<std::string>& paths, Console& console) {
  std::string all;
  for (const std::string& each : paths) all += (all.empty() ? "'" : ", '") + Printable(each) + "'";
  console.Note(
      "hidden files were replaced by others while the box ran, and it could read these: " + all +
      "; write such files in place, or start boxes with --propose, where they stay "
      "hidden");
}

Result<session::RunResult> RunPiped(const PreparedBox& prepared, backend::Backend& backend,
                                    session::RunIo io, Console& console) {
  io.input = OpenInput();
  io.capture_limit = 0;
  io.live = {STDOUT_FILENO, STDERR_FILENO};
  return ExecuteMonitored(prepared.plan, backend, std::move(io), prepared.configured.audit,
                          [&](std::string_view text) { console.Note(text); });
}

Result<session::RunResult> RunOnPty(const PreparedBox& prepared, backend::Backend& backend,
                                    session::RunIo io, Console& console) {
  IGLOO_ASSIGN(Pty pty, OpenPty(STDIN_FILENO));
  return RunOnTerminal(prepared.plan, backend, std::move(pty), std::move(io),
                       prepared.configured.audit, console);
}

/// In the last lines of a box: which limits it ran into.
void SayLimits(const sandbox::Plan& plan, const agent::Box& box, const session::RunResult& result,
               std::vector<std::string> hits, Console& console) {
  const auto has = [&](std::string_view word) {
    return std::ranges::find(hits, word) != hits.end();
  };
  for (std::string& each : HitWords(result.hits)) hits.push_back(std::move(each));
  const std::string memory = HumanBytes(plan.payload.memory_bytes);
  if (has("memory")) {
    console.Note("the box ran into its limit of " + memory +
                 " of memory, and the kernel ended processes of it; --memory MB gives it more");
  } else if (result.verdict == session::Verdict::kMemory) {
    console.Note("the box was ended: its processes together used more than its " + memory +
                 " of memory; --memory MB gives it more");
  }
  if (has("processes") || result.verdict == session::Verdict::kProcesses) {
    console.Note("the box ran into its limit of " + std::to_string(box.processes) +
                 " processes, and could not start more");
  }
}

/// One box while it runs: what looks after it, and what is said when it has ended.
class RunningBox {
 public:
  RunningBox(PreparedBox prepared, agent::BoxRegistry boxes, agent::BoxRegistry::Place place,
             Console& console)
      : prepared_(std::move(prepared)),
        boxes_(std::move(boxes)),
        place_(std::move(place)),
        console_(console) {}

  Result<session::RunResult> Run(const std::optional<std::string>& learn) {
    IGLOO_ASSIGN(const auto programs, service::FindPrograms());
    if (!prepared_.wall) prepared_.wall = std::make_unique<Wall>(programs, false);
    IGLOO_ASSIGN(backend::Backend * backend,
                 prepared_.wall->Choose(*prepared_.configured.backend, prepared_.configured.kernel,
                                        console_));
    IGLOO_ASSIGN(watch_, BoxWatch::Make(prepared_, place_.name(), place_.info(), learn, say_));
    IGLOO_ASSIGN(session::RunIo io, MakeIo(programs));
    IGLOO_ASSIGN(const auto obeyed, ObeyedReport::Begin(prepared_.box, place_.name(), console_));
    auto ran = HasTerminal() ? RunOnPty(prepared_, *backend, std::move(io), console_)
                             : RunPiped(prepared_, *backend, std::move(io), console_);
    watch_->Finish();
    if (!uncovered_->empty()) SayWhatWasUncovered(*uncovered_, console_);
    // Also behind a failure: the box may have begun.
    if (obeyed) obeyed->Finish(console_);
    return ran;
  }

  Result<void> Finish(const session::RunResult& result) {
    if (prepared_.state) prepared_.state->Finish(console_);
    if (prepared_.changes) {
      IGLOO_TRY(prepared_.changes->Close());
      const std::string& name = prepared_.changes->set().name;
      console_.Note("what it changed is kept: igloo changes show " + name + ", igloo apply " +
                    name + ", igloo discard " + name);
    }
    SayWhatWasRefused(result.refused, console_);
    SayWhatWasPutRight(result.put_right, console_);
    SayLimits(prepared_.plan, prepared_.box, result, place_.info().hits, console_);
    return {};
  }

 private:
  /// What the run gets from outside, and what is looked after while it runs.
  Result<session::RunIo> MakeIo(const backend::Programs& programs) {
    session::RunIo io{
        .network = session::OwnNetwork{prepared_.network,
                                       service::ProxyFor(programs, prepared_.configured.resolver)}};
    IGLOO_ASSIGN(io.group, session::TakeLastingGroup(groups_, prepared_.plan));
    watch_->Attend(io);
    std::function<void(boost::asio::io_context&)> serve;
    if (prepared_.grants) {
      serve = prepared_.grants->Server(prepared_.box.name, prepared_.configured.audit, say_,
                                       [this](std::string_view grant, std::string_view what) {
                                         watch_->Take(agent::ExplainGrant(grant, what));
                                       });
    }
    Attendance::Options options{.socket = boxes_.SocketOf(place_.name()),
                                .state = prepared_.state.get(),
                                .groups = groups_.found(),
                                .say = say_};
    if (session::LimitsCpusLater(groups_)) {
      options.later_millicpus = prepared_.plan.payload.millicpus;
    }
    io.beside = [serve, say = say_, watched = watch_->Beside(),
                 attendance = std::make_shared<Attendance>(place_, std::move(options)),
                 hidden = WatchHidden(prepared_.box, uncovered_, console_)](auto& loop, auto& ran) {
      if (serve) serve(loop);
      watched(loop);
      if (const std::string why = hidden->Begin(loop); !why.empty()) {
        say("nobody notices if hidden files are replaced: " + why);
      }
      attendance->Begin(loop, ran);
    };
    return io;
  }

  PreparedBox prepared_;
  agent::BoxRegistry boxes_;
  agent::BoxRegistry::Place place_;
  Console& console_;
  Log::Line say_ = [this](std::string_view text) { console_.Note(text); };
  cgroup::Groups groups_ = cgroup::Groups(cgroup::Find());
  std::unique_ptr<BoxWatch> watch_ = {};
  std::shared_ptr<std::vector<std::string>> uncovered_ =
      std::make_shared<std::vector<std::string>>();
};

}  // namespace

Result<int> RunOrJoin(PreparedBox prepared, const LaunchRequest& request, Console& console) {
  IGLOO_ASSIGN(const agent::BoxRegistry boxes, OpenBoxes());
  IGLOO_ASSIGN(agent::BoxRegistry::BoxOrTurn found,
               boxes.JoinOrStart(prepared.box.project, AgentOf(request)));
  if (found.box) return JoinBox(boxes, *found.box, prepared.box.argv);
  prepared.turn = std::move(found.turn);
  return RunBox(std::move(prepared), request, console);
}

Result<int> RunBox(PreparedBox prepared, const LaunchRequest& request, Console& console) {
  IGLOO_ASSIGN(const agent::BoxRegistry boxes, OpenBoxes());
  agent::BoxInfo info{
      .name = prepared.box.name,
      .agent = AgentOf(request),
      .project = prepared.box.project,
      .network = std::string(network::ToText(prepared.network.level)),
      .started = std::time(nullptr),
      .in_tmux = agent::TmuxTerminal::IsInside(boxes.TmuxSocketOf(prepared.box.name))};
  IGLOO_ASSIGN(agent::BoxRegistry::Place place,
               boxes.Enter(std::move(info), request.name.empty() ? agent::BoxRegistry::Name::kOrNext
                                                                 : request.name_taken));
  prepared.turn.Reset();
  RunningBox box(std::move(prepared), boxes, std::move(place), console);
  IGLOO_ASSIGN(const session::RunResult result, box.Run(request.learn));
  IGLOO_TRY(box.Finish(result));
  return result.exit_code;
}

}  // namespace igloo::cli
