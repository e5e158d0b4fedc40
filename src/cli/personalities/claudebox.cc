#include "cli/personalities/claudebox.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>

#include "agent/claudebox/notice.h"
#include "agent/state/projects.h"
#include "backend/registry.h"
#include "base/private_directory.h"
#include "base/replace_file.h"
#include "base/text.h"
#include "cli/agent/launch.h"
#include "cli/console.h"
#include "cli/net/network_options.h"
#include "cli/personalities/claudebox_audit.h"
#include "cli/personalities/claudebox_check.h"
#include "cli/personalities/claudebox_files.h"
#include "cli/personalities/claudebox_options.h"
#include "cli/personalities/shown_secrets.h"
#include "service/caller.h"
#include "service/programs.h"

namespace igloo::cli {
namespace {

namespace files = agent::claudebox;
using agent::Grant;
using claudebox::FromFiles;
using claudebox::Options;
using claudebox::OwnPlace;

constexpr int kExitFailed = 1;

std::string Caller(const std::string& name) { return service::CallersVariable(name).value_or(""); }

bool IsThere(const std::string& path) { return ::access(path.c_str(), F_OK) == 0; }

/// Words of claudebox and what they mean here.
Result<std::string> TierOf(const std::string& network) {
  if (network == "none") return std::string("none");
  if (network == "inet") return std::string("internet");
  if (network == "full") return std::string("host");
  return Fail(Errc::kInvalidArgument, "there is no network '" + Printable(network) + "'",
              "choose none, inet or full");
}

std::vector<std::string> ExtraNames() {
  std::vector<std::string> names;
  std::string left = Caller("CLAUDEBOX_EXTRA_ENV");
  while (!left.empty()) {
    const std::size_t end = std::min(left.find(','), left.size());
    std::string name = left.substr(0, end);
    std::erase(name, ' ');
    if (!name.empty()) names.push_back(std::move(name));
    left.erase(0, std::min(end + 1, left.size()));
  }
  return names;
}

/// What is asked for, out of the command line and all files.
struct Asked {
  LaunchRequest launch = {};
  ParsedArgs args = {};
  FromFiles files = {};
};

/// Directories of the home directory; one that is missing is left out with a word about it.
std::vector<std::string> DirectoriesThatExist(std::vector<std::string> names, Console& console) {
  std::erase_if(names, [&](const std::string& name) {
    if (IsThere(Caller("HOME") + "/" + name)) return false;
    console.Note("warning: --mount-home: there is no '~/" + Printable(name) + "'");
    return true;
  });
  return names;
}

/// Where claudebox keeps what Claude Code writes: conversations per project, the history of what
/// was typed, and a sign-in of its own if there is one.
void ChooseState(LaunchRequest& launch) {
  const std::string own = OwnPlace();
  launch.state.histories = own + "/projects";
  launch.state.places.push_back({".claude/history.jsonl", own + "/history.jsonl"});
  const std::string credentials = own + "/.credentials.json";
  if (IsThere(credentials))
    launch.state.places.push_back({".claude/.credentials.json", credentials});
}

/// --with-ssh and --ssh-key; Nix where the host has it, unless that would open a closed network.
void ChooseGrants(const Options& options, const std::string& network, LaunchRequest& launch) {
  agent::GrantRequest& grants = launch.grants;
  if (options.with_ssh) grants.asked.insert(Grant::kSshAgent);
  if (!options.ssh_keys.empty()) grants.asked.insert(Grant::kSshKey);
  grants.ssh_keys = options.ssh_keys;
  if (network != "none") grants.usual.insert(Grant::kNix);
}

Result<void> TakeProfile(const std::string& name, std::string& network, Asked& asked) {
  if (name.empty()) return {};
  IGLOO_ASSIGN(const std::string text, claudebox::ReadProfileText(name));
  IGLOO_ASSIGN(const files::Profile said, files::ParseProfile(text, claudebox::ProfilePath(name)));
  auto& variables = asked.files.variables;
  variables.insert(variables.end(), said.set.begin(), said.set.end());
  auto& passed = asked.launch.variables;
  passed.insert(passed.end(), said.passed.begin(), said.passed.end());
  asked.launch.home = said.home;
  if (!said.network.empty()) network = said.network;
  return {};
}

Result<Asked> Ask(const Options& options, Console& console) {
  Asked asked;
  IGLOO_ASSIGN(asked.files, claudebox::ReadFiles(".", console));
  LaunchRequest& launch = asked.launch;
  launch.variables = ExtraNames();
  std::string network = Caller("CLAUDEBOX_NETWORK");
  const std::string profile = options.profile.value_or(Caller("CLAUDEBOX_PROFILE"));
  IGLOO_TRY(TakeProfile(profile, network, asked));
  network = options.network.value_or(network.empty() ? "inet" : network);
  IGLOO_ASSIGN(asked.args.flags["--network"], TierOf(network));
  if (!options.reach.empty()) asked.args.lists["--reach"] = options.reach;
  for (const auto& [name, value] : asked.files.variables) {
    launch.set_variables.push_back({name, value, agent::Origin::kFile});
  }
  files::Settings settings = asked.files.settings;
  files::Add({.program = options.program, .home = options.home, .path = options.path}, settings);
  launch.home.insert(launch.home.end(), settings.home.begin(), settings.home.end());
  launch.home = DirectoriesThatExist(std::move(launch.home), console);
  launch.path = settings.path;
  launch.arguments = options.rest;
  launch.fallback_identity = {.name = "Claude User", .email = "claude@localhost"};
  launch.keys_inside = true;
  launch.show_hidden = {"**"};
  launch.only_shown = options.dry_run;
  launch.profile = agent::FindProfile("claude");
  launch.program = options.shell ? "bash" : settings.program.value_or("");
  launch.notice = files::NoticeText;
  ChooseState(launch);
  ChooseGrants(options, network, launch);
  return asked;
}

/// The box as a bwrap command.
Result<std::string> ShowAsCommand(Asked asked, const config::Config& config, Console& console) {
  const wall::Wall* shown = wall::FindShownAs("bwrap");
  asked.args.flags["--backend"] = std::string(shown->name);
  IGLOO_ASSIGN(const PreparedBox prepared,
               PrepareBox(asked.args, asked.launch, config, Inherit::kNames, console));
  IGLOO_ASSIGN(const auto programs, service::FindPrograms());
  return backend::Show(*shown, prepared.plan, programs);
}

Result<int> DryRun(const Asked& asked, Console& console) {
  IGLOO_ASSIGN(const config::Config config, ReadAgentConfig(asked.args, console));
  if (const auto command = ShowAsCommand(asked, config, console)) {
    console.Err(*command);
    return 0;
  } else {
    console.Note("this is igloo's own plan, as no bwrap command stands for it: " +
                 command.error().what);
  }
  IGLOO_ASSIGN(const PreparedBox prepared,
               PrepareBox(asked.args, asked.launch, config, Inherit::kNames, console));
  console.Err(sandbox::Describe(prepared.plan));
  return 0;
}

/// Writes ~/.claudebox/SANDBOX.md, and shows it as ~/.claude/SANDBOX.md.
Result<void> WriteNotice(const Asked& asked, LaunchRequest& launch) {
  IGLOO_TRY(MakeMissingDirectories(OwnPlace()));
  IGLOO_ASSIGN(const agent::Owner owner, ReadOwner());
  IGLOO_ASSIGN(const std::string project, FindProject(""));
  agent::Box box{.project = project, .home = owner.home, .grants = asked.launch.grants.asked};
  IGLOO_ASSIGN(box.network.level, ParseNetwork(asked.args.flags.at("--network")));
  const std::string path = agent::TheHost().real_path(OwnPlace()) + "/SANDBOX.md";
  IGLOO_TRY(ReplaceFile(path, files::NoticeText(box), {.mode = 0644}));
  launch.mounts.push_back({sandbox::HostTree{.source = path,
                                             .target = owner.home + "/.claude/SANDBOX.md",
                                             .map_owner = true,
                                             .covering = sandbox::Covering::kIntended},
                           "what the agent is told"});
  return {};
}

/// A right that was asked for, or that the host has, and that the sandbox does not get all the
/// same.
void SayWhatIsRefused(const agent::Box& box, const agent::GrantRequest& grants, Console& console) {
  const bool nix = IsThere("/nix/var/nix/daemon-socket/socket");
  if (nix && !grants.usual.contains(Grant::kNix)) {
    console.Note("Nix is not in the sandbox: its daemon would be a network after all");
  }
  for (const agent::MissingRight& each : box.not_granted) {
    if (each.grant == Grant::kSshAgent) console.Note("warning: --with-ssh: " + each.why.what);
    const bool refused = nix && each.grant == Grant::kNix;
    if (refused) console.Note("warning: Nix is not in the sandbox: " + each.why.what);
  }
}

Result<int> Start(const Options& options, Console& console) {
  IGLOO_ASSIGN(Asked asked, Ask(options, console));
  if (options.dry_run) return DryRun(asked, console);
  IGLOO_TRY(WriteNotice(asked, asked.launch));
  IGLOO_ASSIGN(const config::Config config, ReadAgentConfig(asked.args, console));
  IGLOO_ASSIGN(PreparedBox prepared,
               PrepareBox(asked.args, asked.launch, config, Inherit::kValues, console));
  SayWhatIsRefused(prepared.box, asked.launch.grants, console);
  IGLOO_TRY(WarnOfShownSecrets(prepared.box.project, console));
  if (!options.yes) {
    const bool colours = ::isatty(STDERR_FILENO) == 1 && std::getenv("NO_COLOR") == nullptr;
    console.Err(claudebox::AuditText(prepared, asked.files, colours));
    if (::isatty(STDIN_FILENO) != 1) {
      return Fail(Errc::kFailedPrecondition,
                  "standard input is no terminal, so nobody can be asked", "pass --yes or -y");
    }
    console.Err("Proceed? [Y/n] ");
    if (!ReadYes()) return kExitFailed;
  }
  return RunBox(std::move(prepared), asked.launch, console);
}

/// Removes what is kept of projects that are gone.
Result<int> CollectGarbage(Console& console) {
  IGLOO_ASSIGN(const auto removed, agent::RemoveStaleHistories(OwnPlace() + "/projects"));
  for (const agent::StaleHistory& each : removed) {
    console.Out(fmt::format("Removed: {} (project root gone: {})\n", Printable(each.directory),
                            Printable(each.root)));
  }
  console.Out(fmt::format("GC complete: {} instance(s) removed.\n", removed.size()));
  return 0;
}

int ListProfiles(Console& console) {
  const std::vector<std::string> names = claudebox::ProfileNames();
  for (const std::string& name : names) console.Out(Printable(name) + "\n");
  if (names.empty()) console.Note("there are no profiles in ~/.claudebox/profiles");
  return 0;
}

Result<int> Act(std::span<const std::string> words, Console& console) {
  IGLOO_ASSIGN(const Options options, claudebox::ParseOptions(words));
  if (options.help) {
    console.Out(claudebox::Usage());
    return 0;
  }
  if (options.check) return claudebox::RunChecks(console);
  if (options.gc) return CollectGarbage(console);
  if (options.list_profiles) return ListProfiles(console);
  if (options.shown_profile) {
    IGLOO_ASSIGN(const std::string text, claudebox::ReadProfileText(*options.shown_profile));
    console.Out(Printable(text, Newlines::kKeep));
    return 0;
  }
  return Start(options, console);
}

}  // namespace

int ClaudeboxMain(std::span<const std::string> words, Console& console) {
  const Result<int> code = Act(words, console);
  if (code) return *code;
  console.Report(code.error());
  return kExitFailed;
}

}  // namespace igloo::cli
