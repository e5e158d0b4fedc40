#include "cli/agent/launch.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "agent/keys.h"
#include "agent/shown_places.h"
#include "base/text.h"
#include "cli/config/settings.h"
#include "cli/env/build_for_use.h"
#include "cli/net/network_options.h"
#include "cli/options.h"
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

}  // namespace

bool HasTerminal() { return ::isatty(STDIN_FILENO) == 1 && ::isatty(STDOUT_FILENO) == 1; }

Result<agent::Owner> ReadOwner() {
  IGLOO_ASSIGN(const std::string state, service::StatePlace());
  agent::Owner owner{
      .home = agent::TheHost().real_path(service::CallersVariable("HOME").value_or("")),
      .user = service::CallersVariable("USER").value_or("user"),
      // It may not be there yet.
      .state = std::filesystem::weakly_canonical(state).string(),
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
  IGLOO_ASSIGN(const agent::Owner owner, ReadOwner());
  IGLOO_TRY(agent::CheckShown(project.path, {.home = owner.home, .state = owner.state},
                              "a box cannot have as its project"));
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

void AddProfileNetwork(const LaunchRequest& request, config::Configured& configured) {
  if (request.profile == nullptr || configured.network.level != network::Level::kAllow) return;
  for (const std::string_view domain : request.profile->domains) {
    configured.network.rules.emplace_back(domain);
  }
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
                          .hide = configured.hidden,
                          .fallback_identity = request.fallback_identity,
                          .files = std::move(keys.files),
                          .grants = request.grants.asked,
                          .notice = request.notice,
                          .network = run.network};
  for (std::string& glob : args.All("--show-hidden")) asked.hide.show.push_back(std::move(glob));
  for (const std::string& glob : request.show_hidden) asked.hide.show.push_back(glob);
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
  // For the summary, which --yes skips.
  if (inherit == Inherit::kValues && !args.Has("--yes")) {
    std::string unlimited = session::UnlimitedCpus(cgroup::Find(), prepared.plan);
    if (!unlimited.empty()) prepared.box.remarks.push_back(std::move(unlimited));
  }
  return prepared;
}

}  // namespace igloo::cli
