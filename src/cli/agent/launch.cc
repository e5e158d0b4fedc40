#include "cli/agent/launch.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <ctime>

#include "agent/keys.h"
#include "agent/tmux_terminal.h"
#include "base/text.h"
#include "cli/agent/attendance.h"
#include "cli/agent/enter.h"
#include "cli/agent/hidden_watch.h"
#include "cli/agent/obeyed_report.h"
#include "cli/config/settings.h"
#include "cli/env/build_for_use.h"
#include "cli/net/network_options.h"
#include "cli/options.h"
#include "cli/run/execute.h"
#include "cli/run/relay.h"
#include "cli/run/run_output.h"
#include "cli/run/wall.h"
#include "cli/terminal.h"
#include "config/request.h"
#include "service/caller.h"
#include "service/environments.h"
#include "service/places.h"
#include "service/programs.h"
#include "session/network/device.h"
#include "session/prepare.h"

namespace igloo::cli {
namespace {

/// A box has the host's programs unless somebody names an environment.
constexpr const char* kUsualEnvironment = "shell";

bool HasTerminal() { return ::isatty(STDIN_FILENO) == 1 && ::isatty(STDOUT_FILENO) == 1; }

}  // namespace

Result<agent::Owner> ReadOwner() {
  agent::Owner owner{
      .home = agent::TheHost().real_path(service::CallersVariable("HOME").value_or("")),
      .user = service::CallersVariable("USER").value_or("user"),
      .path = service::CallersVariable("PATH").value_or("/usr/bin:/bin")};
  if (owner.home.empty() || owner.home == "/") {
    return Fail(Errc::kFailedPrecondition, "HOME names no directory of yours",
                "set HOME to your home directory");
  }
  return owner;
}

Result<std::string> FindProject(const std::string& named) {
  environment::Project project{.path = named.empty() ? agent::TheHost().real_path(".") : named,
                               .mode = environment::ProjectMode::kReadWrite};
  IGLOO_TRY(CheckProject(project));
  return project.path;
}

namespace {

/// The tier of a box is the internet unless somebody says otherwise.
ParsedArgs WithUsualNetwork(ParsedArgs args, const config::Configured& configured) {
  if (!args.Has("--network") && !configured.names_network) args.flags["--network"] = "internet";
  return args;
}

/// The caller's value, or only that there is one.
agent::Lookup LookupFor(Inherit inherit) {
  const config::Caller caller =
      inherit == Inherit::kValues ? service::TheCaller() : service::NamesOfCaller();
  return [caller](const std::string& name) { return caller.variable(name); };
}

Result<void> Complete(const config::Config& config, const config::Configured& configured,
                      Inherit inherit, environment::RunRequest& request) {
  const config::Caller caller =
      inherit == Inherit::kValues ? service::TheCaller() : service::NamesOfCaller();
  const config::Secrets secrets = inherit == Inherit::kValues
                                      ? config::Secrets(caller.secret)
                                      : config::Secrets(caller.secret, service::ShownPlaceholder);
  return config::Complete(config, configured, caller.variable, secrets, request);
}

std::string NameFor(const LaunchRequest& request, const std::string& project) {
  const std::string agent = request.profile != nullptr
                                ? std::string(request.profile->name)
                                : request.program.substr(request.program.rfind('/') + 1);
  std::string name;
  for (const char c : agent + "-" + project.substr(project.rfind('/') + 1)) {
    const bool plain = std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '-' || c == '_';
    name += plain ? c : '-';
  }
  return name.substr(name.find_first_not_of('-'), 48);
}

/// Standard input for the agent, unless a person sits there.
UniqueFd OpenInput() {
  struct stat info{};
  const bool is_null =
      ::fstat(STDIN_FILENO, &info) != 0 || (S_ISCHR(info.st_mode) && info.st_rdev == makedev(1, 3));
  if (is_null || ::isatty(STDIN_FILENO) == 1) return UniqueFd();
  return UniqueFd(::fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3));
}

void AddProfileNetwork(const LaunchRequest& request, config::Configured& configured) {
  if (request.profile == nullptr || configured.network.level != network::Level::kAllow) return;
  for (const std::string_view domain : request.profile->domains) {
    configured.network.rules.emplace_back(domain);
  }
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

}  // namespace

bool ReadYes() {
  std::string answer;
  char c = 0;
  ssize_t count = 0;
  while ((count = ::read(STDIN_FILENO, &c, 1)) == 1 && c != '\n') answer += c;
  // The end of the terminal is no yes.
  if (count <= 0 && answer.empty()) return false;
  return answer.empty() || answer == "y" || answer == "Y" || answer == "yes";
}

Result<agent::BoxRegistry> OpenBoxes() {
  IGLOO_ASSIGN(const std::string state, service::StatePlace());
  return agent::BoxRegistry::Open(state + "/boxes");
}

Result<config::Config> ReadAgentConfig(const ParsedArgs& args, Console& console) {
  ParsedArgs of_config;
  if (const auto file = args.Get("--config")) of_config.flags["--config"] = *file;
  of_config.flags["--no-project"] = "";
  return ReadConfig(of_config, ProjectUse::kNames, console);
}

namespace {

Result<void> WarmWall(const ParsedArgs& args, PreparedBox& prepared) {
  const wall::Wall* likely = &wall::kDefault;
  if (const auto named = args.Get("--backend")) {
    IGLOO_ASSIGN(likely, wall::Choose(*named));
  }
  IGLOO_ASSIGN(const auto programs, service::FindPrograms());
  prepared.wall = std::make_unique<Wall>(programs, false);
  return prepared.wall->Warm(*likely);
}

}  // namespace

Result<PreparedBox> PrepareBox(const ParsedArgs& args, const LaunchRequest& request,
                               const config::Config& config, Inherit inherit, Console& console) {
  IGLOO_ASSIGN(const agent::Owner owner, ReadOwner());
  IGLOO_ASSIGN(const std::string project, FindProject(request.project));
  const std::string name = args.Get("--env").value_or(kUsualEnvironment);
  if (inherit == Inherit::kValues) IGLOO_TRY(BuildForUse(config, name, console));
  PreparedBox prepared;
  if (!request.only_shown) IGLOO_TRY(WarmWall(args, prepared));
  IGLOO_ASSIGN(prepared.configured, service::ReadEnvironment(config, name));
  config::Configured& configured = prepared.configured;
  if (const auto backend = args.Get("--backend")) {
    IGLOO_ASSIGN(configured.backend, wall::Choose(*backend));
  }
  IGLOO_TRY(TakeNetwork(WithUsualNetwork(args, configured), config, configured));
  AddProfileNetwork(request, configured);

  const agent::Lookup lookup = LookupFor(inherit);
  agent::KeyPlan keys;
  if (request.profile != nullptr && request.keys_inside) {
    for (const agent::ApiKey& key : request.profile->keys) keys.passed.emplace_back(key.variable);
  } else if (request.profile != nullptr) {
    keys = agent::PlanKeys(*request.profile, configured.network, configured.secrets, lookup,
                           [&](std::string_view path) {
                             return ::access((owner.home + "/" + std::string(path)).c_str(),
                                             F_OK) == 0;
                           });
    configured.secrets.insert(configured.secrets.end(), keys.secrets.begin(), keys.secrets.end());
  }
  environment::RunRequest run{
      .time_ms = 0, .place = {.home = owner.home, .directory = owner.home, .user = owner.user}};
  if (HasTerminal()) run.terminal = TerminalType();
  if (const auto memory = args.Get("--memory")) {
    IGLOO_ASSIGN(run.memory_bytes, ParseMemory(*memory));
  }
  IGLOO_TRY(Complete(config, configured, inherit, run));
  for (const auto& [variable, value] : keys.variables) run.variables[variable] = value;

  agent::BoxRequest asked{.name = request.name.empty() ? NameFor(request, project) : request.name,
                          .profile = request.profile,
                          .program = request.program,
                          .beside_agent = request.profile != nullptr && !request.program.empty(),
                          .arguments = request.arguments,
                          .project = project,
                          .set_variables = request.set_variables,
                          .extra_variables = request.variables,
                          .home_directories = request.home,
                          .path_directories = request.path,
                          .late_directories = request.late_path,
                          .own_trees = request.own_trees,
                          .mounts = request.mounts,
                          .hide = request.hide,
                          .fallback_identity = request.fallback_identity,
                          .files = std::move(keys.files),
                          .grants = request.grants.asked,
                          .notice = request.notice,
                          .network = run.network};
  auto& passed = request.keys_inside ? asked.key_variables : asked.extra_variables;
  passed.insert(passed.end(), keys.passed.begin(), keys.passed.end());
  IGLOO_TRY(agent::CheckBoxName(asked.name));
  if (request.propose) {
    IGLOO_ASSIGN(prepared.changes,
                 service::changes::Begin({.name = asked.name,
                                          .project = project,
                                          .by = request.profile != nullptr
                                                    ? std::string(request.profile->name)
                                                    : request.program}));
    asked.changes = prepared.changes->layer();
    asked.repository_changes = prepared.changes->repository_layer();
  }
  IGLOO_ASSIGN(prepared.box, agent::ComposeBox(asked, owner, configured.environment, lookup));
  const agent::GrantCaller caller{.owner = owner,
                                  .lookup = lookup,
                                  .root = ::geteuid() == 0,
                                  .values = inherit == Inherit::kValues,
                                  .views = run.views};
  IGLOO_ASSIGN(prepared.grants, BoxGrants::Apply(request.grants, caller, prepared.box));
  if (request.only_shown) {
    AgentState::ShowIn(owner.home, request.state, prepared.box);
  } else {
    IGLOO_ASSIGN(prepared.state, AgentState::Begin(asked.name, request.profile, owner.home, project,
                                                   request.state, console));
    if (prepared.state) IGLOO_TRY(prepared.state->AddTo(prepared.box));
  }
  if (run.memory_bytes) prepared.box.memory_bytes = *run.memory_bytes;
  if (run.millicpus) prepared.box.millicpus = *run.millicpus;
  for (std::string& remark : keys.remarks) prepared.box.remarks.push_back(std::move(remark));
  prepared.network = run.network;
  IGLOO_ASSIGN(environment::RunRequest now, session::OnThisMachine(std::move(run)));
  IGLOO_ASSIGN(const sandbox::Policy policy,
               agent::PolicyForBox(prepared.box, configured.environment, std::move(now)));
  IGLOO_ASSIGN(prepared.plan, session::PlanOf(policy));
  std::string missing =
      session::MissingDevice(prepared.plan.network, configured.resolver, *configured.backend);
  if (!missing.empty()) prepared.box.remarks.push_back(std::move(missing));
  if (inherit == Inherit::kValues) {
    std::string unlimited = session::UnlimitedCpus(cgroup::Find(), prepared.plan);
    if (!unlimited.empty()) prepared.box.remarks.push_back(std::move(unlimited));
  }
  return prepared;
}

namespace {

/// What the run of a box got from outside, and what is looked after while it runs.
Result<session::RunIo> IoFor(PreparedBox& prepared, const agent::BoxRegistry& boxes,
                             agent::BoxRegistry::Place& place, const backend::Programs& programs,
                             cgroup::Groups& groups,
                             const std::shared_ptr<std::vector<std::string>>& uncovered,
                             Console& console) {
  session::RunIo io{
      .network = session::OwnNetwork{prepared.network,
                                     service::ProxyFor(programs, prepared.configured.resolver)}};
  IGLOO_ASSIGN(io.group, session::TakeLastingGroup(groups, prepared.plan));
  const auto say = [&](std::string_view text) { console.Note(text); };
  std::function<void(boost::asio::io_context&)> serve;
  if (prepared.grants) {
    serve = prepared.grants->Server(prepared.box.name, prepared.configured.audit, say);
  }
  Attendance::Options options{.socket = boxes.SocketOf(place.name()),
                              .state = prepared.state.get(),
                              .groups = groups.found(),
                              .say = say};
  if (session::LimitsCpusLater(groups)) {
    options.later_millicpus = prepared.plan.payload.millicpus;
  }
  const auto attendance = std::make_shared<Attendance>(place, std::move(options));
  io.beside = [serve, attendance, say,
               hidden = WatchHidden(prepared.box, uncovered, console)](auto& loop, auto& ran) {
    if (serve) serve(loop);
    if (const std::string why = hidden->Begin(loop); !why.empty()) {
      say("nobody notices if hidden files are replaced: " + why);
    }
    attendance->Begin(loop, ran);
  };
  return io;
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

}  // namespace

namespace {

std::string AgentOf(const LaunchRequest& request) {
  return request.profile != nullptr ? std::string(request.profile->name) : request.program;
}

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
  agent::BoxInfo info{.name = prepared.box.name,
                      .agent = AgentOf(request),
                      .project = prepared.box.project,
                      .network = std::string(network::ToText(prepared.network.level)),
                      .started = std::time(nullptr),
                      .in_tmux = agent::TmuxTerminal::IsInside(
                          boxes.TmuxSocketOf(prepared.box.name))};
  IGLOO_ASSIGN(agent::BoxRegistry::Place place,
               boxes.Enter(std::move(info), request.name.empty()
                                                ? agent::BoxRegistry::Name::kOrNext
                                                : request.name_taken));
  prepared.turn.Reset();
  IGLOO_ASSIGN(const auto programs, service::FindPrograms());
  if (!prepared.wall) prepared.wall = std::make_unique<Wall>(programs, false);
  IGLOO_ASSIGN(backend::Backend * backend,
               prepared.wall->Choose(*prepared.configured.backend, console));
  cgroup::Groups groups(cgroup::Find());
  const auto uncovered = std::make_shared<std::vector<std::string>>();
  IGLOO_ASSIGN(session::RunIo io,
               IoFor(prepared, boxes, place, programs, groups, uncovered, console));
  IGLOO_ASSIGN(const auto obeyed, ObeyedReport::Begin(prepared.box, place.name(), console));
  auto ran = HasTerminal() ? RunOnPty(prepared, *backend, std::move(io), console)
                           : RunPiped(prepared, *backend, std::move(io), console);
  if (!uncovered->empty()) SayWhatWasUncovered(*uncovered, console);
  // Also behind a failure: the box may have begun.
  if (obeyed) obeyed->Finish(console);
  IGLOO_ASSIGN(const session::RunResult result, std::move(ran));
  if (prepared.state) prepared.state->Finish(console);
  if (prepared.changes) {
    IGLOO_TRY(prepared.changes->Close());
    const std::string& name = prepared.changes->set().name;
    console.Note("what it changed is kept: igloo changes show " + name + ", igloo apply " + name +
                 ", igloo discard " + name);
  }
  SayWhatWasRefused(result.refused, console);
  SayWhatWasPutRight(result.put_right, console);
  SayLimits(prepared.plan, prepared.box, result, place.info().hits, console);
  return result.exit_code;
}

}  // namespace igloo::cli
