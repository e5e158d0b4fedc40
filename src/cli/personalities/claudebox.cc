#include "cli/personalities/claudebox.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "agent/claudebox/files.h"
#include "agent/claudebox/project_files.h"
#include "agent/summary.h"
#include "backend/registry.h"
#include "base/file.h"
#include "base/spawn.h"
#include "base/text.h"
#include "cli/agent/launch.h"
#include "cli/console.h"
#include "cli/personalities/claudebox_options.h"
#include "service/caller.h"
#include "service/places.h"
#include "service/programs.h"

namespace igloo::cli {
namespace {

namespace files = agent::claudebox;
namespace fs = std::filesystem;
using claudebox::Options;

constexpr int kExitFailed = 1;
constexpr std::size_t kMostFile = 1U << 20;

std::string Caller(const std::string& name) { return service::CallersVariable(name).value_or(""); }

std::string OwnPlace() { return Caller("HOME") + "/.claudebox"; }

/// The text of a file, or nothing where there is none.
Result<std::string> ReadOptional(const std::string& path) {
  if (::access(path.c_str(), F_OK) != 0) return std::string();
  return ReadFile(path, kMostFile);
}

/// What the files say, the user's own first.
struct FromFiles {
  files::Settings settings = {};
  files::Variables variables = {};
};

Result<void> AddFiles(const std::string& settings, const std::string& variables, FromFiles& all) {
  IGLOO_ASSIGN(const std::string settings_text, ReadOptional(settings));
  IGLOO_ASSIGN(const files::Settings more, files::ParseSettings(settings_text, settings));
  files::Add(more, all.settings);
  IGLOO_ASSIGN(const std::string variables_text, ReadOptional(variables));
  IGLOO_ASSIGN(const files::Variables values, files::ParseVariables(variables_text, variables));
  all.variables.insert(all.variables.end(), values.begin(), values.end());
  return {};
}

/// The project's files count only as the user trusted them: they name programs and directories.
Result<void> AddProjectFiles(FromFiles& all, Console& console) {
  IGLOO_ASSIGN(const std::string state, service::StatePlace());
  config::TrustDirectory store(state + "/trust");
  IGLOO_ASSIGN(const auto own, files::ReadProjectFiles(".", store));
  if (own.trust == config::Trust::kNoFile) return {};
  if (own.trust != config::Trust::kTrusted) {
    console.Note("note: '" + Printable(own.settings_path) + "' does not count: it " +
                 (own.trust == config::Trust::kChanged ? "has changed since it was trusted"
                                                       : "is not trusted") +
                 "; look at it, then: igloo trust .");
    return {};
  }
  IGLOO_ASSIGN(const files::Settings more, files::ParseSettings(own.settings, own.settings_path));
  files::Add(more, all.settings);
  IGLOO_ASSIGN(const files::Variables values,
               files::ParseVariables(own.variables, own.variables_path));
  all.variables.insert(all.variables.end(), values.begin(), values.end());
  return {};
}

std::string ProfilePlace(const std::string& name) {
  return OwnPlace() + "/profiles/" + name + ".json";
}

Result<std::string> ReadProfileText(const std::string& name) {
  const bool plain = !name.empty() && !name.contains('/') && !name.starts_with('.');
  auto text = plain ? ReadFile(ProfilePlace(name), kMostFile)
                    : Result<std::string>(Fail(Errc::kInvalidArgument, "it is no name"));
  if (text) return text;
  return Fail(Errc::kNotFound, "there is no profile '" + Printable(name) + "'",
              "--list-profiles shows those that there are");
}

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
};

Result<Asked> Ask(const Options& options, Console& console) {
  FromFiles all;
  IGLOO_TRY(AddFiles(OwnPlace() + "/config", OwnPlace() + "/env", all));
  IGLOO_TRY(AddProjectFiles(all, console));
  Asked asked;
  std::string network = Caller("CLAUDEBOX_NETWORK");
  const std::string profile = options.profile.value_or(Caller("CLAUDEBOX_PROFILE"));
  LaunchRequest& launch = asked.launch;
  launch.variables = ExtraNames();
  if (!profile.empty()) {
    IGLOO_ASSIGN(const std::string text, ReadProfileText(profile));
    IGLOO_ASSIGN(const files::Profile said, files::ParseProfile(text, ProfilePlace(profile)));
    all.variables.insert(all.variables.end(), said.set.begin(), said.set.end());
    launch.variables.insert(launch.variables.end(), said.passed.begin(), said.passed.end());
    launch.home = said.home;
    if (!said.network.empty()) network = said.network;
  }
  network = options.network.value_or(network.empty() ? "inet" : network);
  IGLOO_ASSIGN(asked.args.flags["--network"], TierOf(network));
  for (const auto& [name, value] : all.variables) {
    launch.set_variables.push_back({name, value, agent::Origin::kFile});
  }
  files::Settings settings = all.settings;
  files::Add({.program = options.program, .home = options.home, .path = options.path}, settings);
  launch.home.insert(launch.home.end(), settings.home.begin(), settings.home.end());
  launch.path = settings.path;
  launch.arguments = options.rest;
  launch.fallback_identity = {.name = "Claude User", .email = "claude@localhost"};
  launch.keys_inside = true;
  launch.only_shown = options.dry_run;
  if (options.shell) settings.program = "bash";
  if (settings.program) {
    launch.program = *settings.program;
  } else {
    launch.profile = agent::FindProfile("claude");
  }
  return asked;
}

std::string_view Heading(agent::Origin origin) {
  switch (origin) {
    case agent::Origin::kIgloo:
    case agent::Origin::kProfile:
      return "Sandbox-generated";
    case agent::Origin::kCaller:
      return "Host (allowlisted)";
    case agent::Origin::kNamed:
    case agent::Origin::kGranted:
      return "Extra (CLAUDEBOX_EXTRA_ENV)";
    case agent::Origin::kFile:
      return "[config]";
  }
  return "?";
}

/// What claudebox prints before it starts, from the plan.
std::string AuditText(const PreparedBox& prepared, bool colours) {
  const auto bold = [&](std::string_view text) {
    return colours ? fmt::format("\x1b[1m{}\x1b[0m\n", text) : fmt::format("{}\n", text);
  };
  std::string text = bold("claudebox: what the sandbox gets");
  using enum agent::Origin;
  for (const agent::Origin origin : {kIgloo, kCaller, kNamed, kFile}) {
    std::string lines;
    for (const std::string& each : prepared.plan.payload.env) {
      const std::string name = each.substr(0, each.find('='));
      const std::string value = each.substr(std::min(name.size() + 1, each.size()));
      const auto known = std::ranges::find(prepared.box.variables, name, &agent::Variable::name);
      const auto from = known == prepared.box.variables.end() ? kIgloo : known->origin;
      if (Heading(from) != Heading(origin)) continue;
      std::string shown = Printable(agent::ShownValue(name, value));
      for (std::size_t at = 0; name == "PATH" && (at = shown.find(':', at)) != std::string::npos;) {
        shown.replace(at, 1, "\n      ");
      }
      lines += fmt::format("  {}{}={}\n", origin == kFile ? "[+] " : "", Printable(name), shown);
    }
    if (!lines.empty()) text += bold(Heading(origin)) + lines;
  }
  return text + SummaryText(prepared, colours, "Variables");
}

struct Check {
  std::string name;
  bool fine;
  bool needed;
  std::string hint;
};

/// Coloured lines on standard error, and whether all that is needed is there.
int RunChecks(Console& console) {
  const auto program = [](const char* name, const char* hint) {
    return Check{name, !FindInPath(name).empty(), true, hint};
  };
  const std::string place = OwnPlace();
  const Check checks[] = {
      program("bwrap", "install bubblewrap; it is needed for --dry-run alone"),
      program("claude", "npm install -g @anthropic-ai/claude-code"),
      program("git", "install git"),
      program("curl", "install curl"),
      {"nix", !FindInPath("nix").empty(), false, "without it the box has this machine's programs"},
      {"~/.claudebox", ::access(place.c_str(), F_OK) == 0, false, "will be created on first run"},
      {"~/.claudebox/config", ::access((place + "/config").c_str(), F_OK) == 0, false, "optional"},
      {".claudebox of this project", ::access(".claudebox", F_OK) == 0, false, "optional"},
      {"ANTHROPIC_API_KEY", !Caller("ANTHROPIC_API_KEY").empty(), false,
       "not set: Claude Code uses its sign-in"},
  };
  const bool colours = ::isatty(STDERR_FILENO) == 1 && std::getenv("NO_COLOR") == nullptr;
  bool all = true;
  for (const Check& each : checks) {
    const char* word = each.fine ? "OK" : each.needed ? "FAIL" : "WARN";
    const char* colour = each.fine ? "32" : each.needed ? "31" : "33";
    const std::string shown =
        colours ? fmt::format("\x1b[{}m{:<4}\x1b[0m", colour, word) : fmt::format("{:<4}", word);
    console.Err(
        fmt::format("{} {}{}\n", shown, each.name, each.fine ? "" : " (" + each.hint + ")"));
    all = all && (each.fine || !each.needed);
  }
  console.Err(all ? "All checks passed.\n" : "Some checks failed.\n");
  return all ? 0 : kExitFailed;
}

Result<int> ListProfiles(Console& console) {
  std::vector<std::string> names;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(OwnPlace() + "/profiles", ignored)) {
    if (entry.path().extension() == ".json") names.push_back(entry.path().stem().string());
  }
  std::ranges::sort(names);
  for (const std::string& name : names) console.Out(Printable(name) + "\n");
  if (names.empty()) console.Note("there are no profiles in ~/.claudebox/profiles");
  return 0;
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

Result<int> Start(const Options& options, Console& console) {
  IGLOO_ASSIGN(Asked asked, Ask(options, console));
  if (options.dry_run) return DryRun(asked, console);
  IGLOO_ASSIGN(const config::Config config, ReadAgentConfig(asked.args, console));
  IGLOO_ASSIGN(PreparedBox prepared,
               PrepareBox(asked.args, asked.launch, config, Inherit::kValues, console));
  if (!options.yes) {
    const bool colours = ::isatty(STDERR_FILENO) == 1 && std::getenv("NO_COLOR") == nullptr;
    console.Err(AuditText(prepared, colours));
    if (::isatty(STDIN_FILENO) != 1) {
      return Fail(Errc::kFailedPrecondition,
                  "standard input is no terminal, so nobody can be asked", "pass --yes or -y");
    }
    console.Err("Proceed? [Y/n] ");
    if (!ReadYes()) return kExitFailed;
  }
  return RunBox(std::move(prepared), asked.launch, console);
}

Result<int> Act(std::span<const std::string> words, Console& console) {
  IGLOO_ASSIGN(const Options options, claudebox::ParseOptions(words));
  if (options.help) {
    console.Out(claudebox::Usage());
    return 0;
  }
  if (options.check) return RunChecks(console);
  if (options.list_profiles) return ListProfiles(console);
  if (options.shown_profile) {
    IGLOO_ASSIGN(const std::string text, ReadProfileText(*options.shown_profile));
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
