#include "cli/personalities/claude_sandbox.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "agent/claude_sandbox/notice.h"
#include "agent/claude_sandbox/state_directory.h"
#include "agent/sudo_user.h"
#include "base/text.h"
#include "cli/agent/enter.h"
#include "cli/agent/launch.h"
#include "cli/console.h"
#include "cli/personalities/shown_secrets.h"
#include "service/caller.h"
#include "service/places.h"

namespace igloo::cli {
namespace {

namespace sandboxes = agent::claude_sandbox;
using agent::Grant;
using claude_sandbox::Launcher;
using claude_sandbox::Options;

constexpr int kExitFailed = 1;

/// What a sandbox has where the host has it, as it always had, and how the first line calls it.
struct UsualRight {
  Grant grant;
  std::string_view name;
};
constexpr UsualRight kUsual[] = {
    {Grant::kGitFiles, "git settings"},
    {Grant::kGitHubFiles, "gh settings"},
    {Grant::kSshFiles, "~/.ssh"},
    {Grant::kSshAgent, "ssh-agent"},
    {Grant::kX11, "X11"},
    {Grant::kWayland, "Wayland"},
    {Grant::kAudio, "sound"},
    {Grant::kGpu, "GPU"},
    {Grant::kSystemBus, "system bus"},
    {Grant::kBrowser, "Chromium"},
    {Grant::kNix, "Nix"},
};

std::string Joined(const std::vector<std::string_view>& names) {
  std::string text;
  for (const std::string_view name : names) text += (text.empty() ? "" : ", ") + std::string(name);
  return text;
}

/// The real path of the directory that somebody names.
Result<std::string> ReadProject(const std::string& named) {
  const std::string real = agent::TheHost().real_path(named);
  struct stat info{};
  if (real.empty() || ::stat(real.c_str(), &info) != 0 || !S_ISDIR(info.st_mode)) {
    return Fail(Errc::kNotFound, Printable(named) + " is not a directory");
  }
  return FindProject(real);
}

/// $XDG_STATE_HOME, where igloo's own state lies, too.
Result<std::string> StateHome() {
  IGLOO_ASSIGN(const std::string igloo, service::StatePlace());
  // It may not be there yet.
  return std::filesystem::weakly_canonical(igloo.substr(0, igloo.rfind('/'))).string();
}

bool IsGranted(const agent::Box& box, Grant grant) {
  const auto& all = box.granted;
  return std::ranges::find(all, grant, &agent::GrantedRight::grant) != all.end();
}

/// The first line: what of the user's is inside.
std::string RightsLine(const Launcher& launcher, const Options& options, const agent::Box& box) {
  std::vector<std::string_view> has, lacks;
  for (const UsualRight& each : kUsual) {
    if (!options.minimal) (IsGranted(box, each.grant) ? has : lacks).push_back(each.name);
  }
  const auto key = std::ranges::find(box.variables, "ANTHROPIC_API_KEY", &agent::Variable::name);
  if (key != box.variables.end()) has.push_back(key->name);
  if (IsGranted(box, Grant::kGitHubToken)) has.emplace_back("GitHub token");
  return fmt::format("{}: the sandbox has your project{}{}{}{}\n", launcher.link,
                     has.empty() ? "" : ", ", Joined(has),
                     lacks.empty() ? "" : " (not here: " + Joined(lacks) + ")",
                     options.minimal ? "" : "; --minimal leaves all but the project out");
}

std::string NetworkLine(const Launcher& launcher, const network::Wanted& wanted) {
  if (wanted.level != network::Level::kInternet) return {};
  return fmt::format(
      "{}: it reaches the internet, but no private address and nothing of this machine, whose "
      "network the older launcher shared: --reach PORT opens one port\n",
      launcher.link);
}

/// A right that was asked for, or that the host has, and that the sandbox does not get all the
/// same.
void SayWhatIsRefused(const agent::Box& box, const Options& options, Console& console) {
  for (const agent::MissingRight& each : box.not_granted) {
    const bool named = each.grant == Grant::kGitHubToken && options.gh_token;
    const bool refused =
        each.grant == Grant::kNix && ::access("/nix/var/nix/daemon-socket/socket", F_OK) == 0;
    if (named || refused) console.Note(each.why.what);
  }
}

/// The sandboxes of one project: "sandbox-KEY", and with --new "sandbox-KEY-2", ....
std::string NameOf(const std::string& project) { return "sandbox-" + sandboxes::KeyOf(project); }

Result<std::vector<agent::BoxInfo>> Running(const agent::BoxRegistry& boxes,
                                            const std::string& project) {
  const std::string name = NameOf(project);
  IGLOO_ASSIGN(std::vector<agent::BoxInfo> all, boxes.List());
  std::erase_if(all, [&](const agent::BoxInfo& each) {
    return each.project != project || (each.name != name && !each.name.starts_with(name + "-"));
  });
  return all;
}

Result<agent::BoxInfo> RunningOne(const agent::BoxRegistry& boxes, const std::string& project) {
  IGLOO_ASSIGN(const auto all, Running(boxes, project));
  if (!all.empty()) return all.front();
  return Fail(Errc::kNotFound, "no sandbox of " + Printable(project) + " runs",
              "start one: claude-sandbox " + ShellQuote(Printable(project)));
}

/// What is asked for.
struct Asked {
  LaunchRequest launch = {};
  ParsedArgs args = {};
};

Result<void> AddState(const Options& options, const Launcher& launcher, const std::string& home,
                      LaunchRequest& launch) {
  IGLOO_ASSIGN(const std::string state_home, StateHome());
  sandboxes::StateDirectory state = sandboxes::FindStateDirectory(state_home, launch.project);
  if (!launch.only_shown) {
    IGLOO_ASSIGN(state, sandboxes::OpenStateDirectory(state_home, launch.project));
  }
  const auto set = [&](std::string name, std::string value) {
    launch.set_variables.push_back({std::move(name), std::move(value), agent::Origin::kIgloo});
  };
  set("CLAUDE_SANDBOX", "1");
  set("CLAUDE_SANDBOX_BACKEND", claude_sandbox::BackendWord(launcher));
  set("CLAUDE_SANDBOX_STATE_DIR", state.path);
  launch.late_path = {home + "/.local/bin"};
  // What is only shown is there if somebody has started a sandbox in the project.
  if (::access((state.path + "/path").c_str(), F_OK) == 0) {
    launch.own_trees = sandboxes::TreesOf(state, home);
    launch.mounts.push_back({sandbox::HostTree{.source = state.path,
                                               .target = state.path,
                                               .map_owner = true,
                                               .covering = sandbox::Covering::kIntended},
                             "what is kept of this project (CLAUDE_SANDBOX_STATE_DIR)"});
  }
  launch.notice = options.minimal ? sandboxes::MinimalNoticeText : sandboxes::NoticeText;
  return {};
}

Result<Asked> Ask(const Options& options, const Launcher& launcher, const std::string& project,
                  const wall::Wall& wall) {
  IGLOO_ASSIGN(const agent::Owner owner, ReadOwner());
  Asked asked;
  asked.args.flags["--backend"] = std::string(wall.name);
  asked.args.flags["--network"] = options.no_network ? "none" : "internet";
  if (!options.reach.empty()) asked.args.lists["--reach"] = options.reach;
  LaunchRequest& launch = asked.launch;
  launch.profile = agent::FindProfile("claude");
  if (options.shell) launch.program = "bash";
  launch.arguments = options.rest;
  launch.project = project;
  launch.only_shown = options.dry_run;
  launch.keys_inside = true;
  launch.name = NameOf(project);
  launch.name_taken =
      options.another ? agent::BoxRegistry::Name::kOrNext : agent::BoxRegistry::Name::kExactly;
  launch.show_hidden = {"**"};
  launch.state.own_conversations = true;
  if (options.gh_token) launch.grants.usual.insert(Grant::kGitHubToken);
  for (const UsualRight& each : kUsual) {
    // The daemon downloads what a build names: that would be a network after all.
    const bool opens = each.grant == Grant::kNix && options.no_network;
    if (!options.minimal && !opens) launch.grants.usual.insert(each.grant);
  }
  IGLOO_TRY(AddState(options, launcher, owner.home, launch));
  return asked;
}

/// Starts the agent in a sandbox that runs: with its rights, whatever this command line says.
Result<int> Join(Asked asked, const agent::BoxRegistry& boxes, const agent::BoxInfo& box,
                 Console& console) {
  console.Note("joining the sandbox '" + box.name +
               "' of this project, with the rights that it was started with (--new makes another)");
  asked.launch.only_shown = true;
  asked.launch.grants = {};
  IGLOO_ASSIGN(const config::Config config, ReadAgentConfig(asked.args, console));
  IGLOO_ASSIGN(const PreparedBox prepared,
               PrepareBox(asked.args, asked.launch, config, Inherit::kNames, console));
  return JoinBox(boxes, box, prepared.box.argv);
}

Result<int> Start(const Options& options, const Launcher& launcher, const Asked& asked,
                  Console& console) {
  IGLOO_ASSIGN(const config::Config config, ReadAgentConfig(asked.args, console));
  const Inherit inherit = options.dry_run ? Inherit::kNames : Inherit::kValues;
  IGLOO_ASSIGN(PreparedBox prepared,
               PrepareBox(asked.args, asked.launch, config, inherit, console));
  if (options.dry_run) {
    console.Out(sandbox::Describe(prepared.plan));
    return 0;
  }
  console.Err(RightsLine(launcher, options, prepared.box));
  console.Err(NetworkLine(launcher, prepared.network));
  SayWhatIsRefused(prepared.box, options, console);
  IGLOO_TRY(WarnOfShownSecrets(prepared.box.project, console));
  return RunBox(std::move(prepared), asked.launch, console);
}

/// One sandbox for each project: who comes second joins it.
Result<int> StartOrJoin(const Options& options, const Launcher& launcher, Asked asked,
                        Console& console) {
  IGLOO_ASSIGN(const agent::BoxRegistry boxes, OpenBoxes());
  if (!HasTerminal()) asked.launch.name_taken = agent::BoxRegistry::Name::kOrNext;
  const bool joins = !options.another && !options.dry_run && HasTerminal();
  if (joins) {
    IGLOO_ASSIGN(const auto running, Running(boxes, asked.launch.project));
    if (!running.empty()) return Join(std::move(asked), boxes, running.front(), console);
  }
  auto code = Start(options, launcher, asked, console);
  if (code || !joins) return code;
  // Somebody else may have been faster.
  const auto running = Running(boxes, asked.launch.project);
  if (!running || running->empty()) return code;
  return Join(std::move(asked), boxes, running->front(), console);
}

Result<int> Stop(const std::string& project, Console& console) {
  IGLOO_ASSIGN(const agent::BoxRegistry boxes, OpenBoxes());
  IGLOO_TRY(RunningOne(boxes, project));
  IGLOO_ASSIGN(const auto running, Running(boxes, project));
  for (const agent::BoxInfo& each : running) {
    IGLOO_TRY(boxes.Stop(each));
    console.Out("sandbox '" + each.name + "' has ended\n");
  }
  return 0;
}

Result<int> Act(const Launcher& launcher, const Options& options, Console& console) {
  IGLOO_ASSIGN(const wall::Wall* wall, claude_sandbox::WallOf(launcher, ::geteuid() == 0));
  if (!launcher.needs_root.empty()) {
    IGLOO_ASSIGN(const auto user, agent::FindSudoUser(service::CallersVariable));
    if (user) IGLOO_TRY(agent::ActFor(*user));
  }
  if (options.tmux) {
    return Fail(Errc::kFailedPrecondition, "--tmux is not available yet",
                "start it in a tmux of yours: tmux new-session " + std::string(launcher.link));
  }
  IGLOO_ASSIGN(const std::string project, ReadProject(options.project));
  if (options.stop) return Stop(project, console);
  if (options.enter) {
    IGLOO_ASSIGN(const agent::BoxRegistry boxes, OpenBoxes());
    IGLOO_ASSIGN(const agent::BoxInfo box, RunningOne(boxes, project));
    return EnterBox(boxes.SocketOf(box.name), {"/bin/bash"});
  }
  IGLOO_ASSIGN(Asked asked, Ask(options, launcher, project, *wall));
  return StartOrJoin(options, launcher, std::move(asked), console);
}

}  // namespace

int ClaudeSandboxMain(const Launcher& launcher, std::span<const std::string> words,
                      Console& console) {
  const auto options = claude_sandbox::ParseOptions(words);
  if (!options) {
    console.Err(options.error().what + "\n" + claude_sandbox::Usage(launcher));
    return kExitFailed;
  }
  if (options->help) {
    console.Out(claude_sandbox::Usage(launcher));
    return 0;
  }
  const Result<int> code = Act(launcher, *options, console);
  if (code) return *code;
  console.Err("Error: " + Printable(code.error().what, Newlines::kKeep) + "\n");
  if (!code.error().hint.empty()) {
    console.Err("  hint: " + Printable(code.error().hint, Newlines::kKeep) + "\n");
  }
  return kExitFailed;
}

}  // namespace igloo::cli
