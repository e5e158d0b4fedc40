#include "cli/personalities/sandbox_mcp.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <ctime>
#include <set>

#include "base/error_text.h"
#include "base/text.h"
#include "cli/config/settings.h"
#include "cli/console.h"
#include "cli/env/build_for_use.h"
#include "cli/mcp/serve.h"
#include "cli/personalities/pull.h"
#include "service/environments.h"
#include "service/flakes.h"
#include "service/places.h"
#include "service/sandbox_images.h"
#include "tools/per_environment.h"
#include "tools/per_environment_contract.h"

namespace igloo::cli {
namespace {

constexpr const char* kVersion = "0.1.0";
/// Whether the command line has a say in how clients reach the server.
enum class Transport { kUnsaid, kStdio };

constexpr int kExitFailed = 1, kExitUsage = 2;

struct Option {
  std::string_view name, description;
};
constexpr std::array<Option, 6> kOptions = {{
    {"stdio", "serve a client on standard input and output; so without any option"},
    {"build", "have Nix build what igloo's configuration names, unpack images, and say the rest"},
    {"pull", "write the default sandboxes below sandboxesPath, for you to change"},
    {"force", "with --pull: overwrite those that are there"},
    {"version", "say which version this is"},
    {"help", "show this"},
}};

/// Options that were written about and that the old program never had, and what to do instead.
struct Absent {
  std::string_view name, instead;
};
constexpr Absent kAbsent[] = {
    {"nix-native", "leave it out: sandboxes run behind igloo's own wall"},
    {"init-nix", "leave it out: nothing has to be prepared"},
    {"config", "write $XDG_CONFIG_HOME/sandbox-mcp/config.json, or set IGLOO_CONFIG"},
    {"timeout", "write \"timeout\" in the sandbox's config.json"},
    {"max-memory", "write \"resources\": {\"memory\": ...} in the sandbox's config.json"},
    {"max-cpu-cores", "write \"resources\": {\"cpu\": ...} in the sandbox's config.json"},
    {"enable-sandbox", "every sandbox below sandboxesPath is served; --pull writes the defaults"},
    {"enable-networking", "write \"security\": {\"network\": ...} in the sandbox's config.json"},
    {"workspace-persist", "sandboxes are fresh every time; 'igloo mcp' has sessions that last"},
    {"bind", "set PROJECT_DIR: code sees that directory, read-only, at /project"},
};

std::string Usage() {
  std::string text =
      "sandbox-mcp - one MCP tool for each sandbox, served by igloo\n\n"
      "Usage: sandbox-mcp [OPTIONS]\n\nOptions:\n";
  for (const Option& option : kOptions) {
    text += fmt::format("  --{:<10} {}\n", option.name, option.description);
  }
  return text +
         "\nSandboxes are directories with a config.json below the 'sandboxesPath' of\n"
         "$XDG_CONFIG_HOME/sandbox-mcp/config.json (sandbox-mcp/sandboxes beside it if it names\n"
         "none); one of yours beats the default one with its id.\n";
}

/// The lines on standard error, each with the time, as they always looked.
void Log(Console& console, std::string_view text) {
  const std::time_t now = std::time(nullptr);
  std::tm local{};
  ::localtime_r(&now, &local);
  std::array<char, 32> time{};
  std::strftime(time.data(), time.size(), "%Y/%m/%d %H:%M:%S", &local);
  console.Err(fmt::format("[Sandbox MCP] {} {}\n", time.data(), Printable(text)));
}

void LogError(Console& console, const Error& error) { Log(console, InOneLine(error)); }

/// "--pull", "-pull", "--pull=true": the old program took them all.
Result<std::set<std::string_view>> ParseOptions(std::span<const std::string> words) {
  std::set<std::string_view> given;
  for (const std::string_view word : words) {
    std::string_view name = word.substr(std::min(word.find_first_not_of('-'), word.size()));
    const std::string_view value =
        name.contains('=') ? name.substr(name.find('=') + 1) : std::string_view("true");
    name = name.substr(0, name.find('='));
    if (name == "h") name = "help";
    const bool known = std::ranges::find(kOptions, name, &Option::name) != kOptions.end();
    if (word.starts_with('-') && known && (value == "true" || value == "false")) {
      if (value == "true") given.insert(name);
      continue;
    }
    const auto absent = std::ranges::find(kAbsent, name, &Absent::name);
    return Fail(Errc::kInvalidArgument, "there is no option '" + std::string(word) + "'",
                absent != std::end(kAbsent) ? std::string(absent->instead)
                                            : "'sandbox-mcp --help' lists them");
  }
  return given;
}

Result<int> Pull(const std::string& place, Existing existing, Console& console) {
  if (place.empty()) {
    return Fail(Errc::kFailedPrecondition, "there is no place for sandboxes",
                "set HOME or XDG_CONFIG_HOME");
  }
  IGLOO_ASSIGN(const Pulled pulled, PullSandboxes(place, existing));
  for (const std::string& id : pulled.skipped) {
    Log(console, "Skipped '" + id + "', which exists; --force overwrites it");
  }
  Log(console, fmt::format("Wrote {} sandboxes to '{}'", pulled.written.size(), place));
  return 0;
}

/// Unpacks the images of the user's sandboxes that lie on this machine; their ids. One that cannot
/// be had is said and keeps nobody else's back.
std::set<std::string> UnpackImages(const config::SandboxScan& scan, Console& console) {
  std::set<std::string> unpacked;
  for (const config::FoundSandbox& each : scan.found) {
    const auto made = service::BuildSandboxImage(each);
    if (!made) LogError(console, Wrap("'" + each.spec.id + "'", made.error()).error());
    if (made && *made == service::Built::kUnpacked) unpacked.insert(each.spec.id);
  }
  return unpacked;
}

/// Has Nix make what igloo's configuration names from flakes and is not there yet. False: one of
/// them cannot be made, which is said and keeps nobody else's back.
bool BuildFlakes(const config::Config& config, Console& console) {
  bool all = true;
  for (const service::Flake& flake : service::FlakesOf(config)) {
    if (service::ReadFlake(config, flake)) {
      Log(console, "'" + flake.name + "' needs no build: Nix has made it already");
      continue;
    }
    auto made = BuildForUse(config, flake.name, console);
    const auto read = service::ReadFlake(config, flake);
    if (made && !read) made = std::unexpected(read.error());
    if (made) {
      Log(console, fmt::format("'{}': Nix has built it from {}", flake.name, read->source));
    } else {
      LogError(console, Wrap("'" + flake.name + "'", std::move(made).error()).error());
    }
    all = all && made;
  }
  return all;
}

/// What became of building: images that lie here are unpacked, Nix makes what a configuration names
/// from flakes, nothing is built for a sandbox whose environment is here already, and of any other
/// one it is said what has to be done. Fails when one of the user's own cannot be used.
Result<int> Build(const config::SandboxMcpConfig& own, Console& console) {
  IGLOO_ASSIGN(config::Config config, ReadConfig({}, ProjectUse::kNames, console));
  config::SandboxScan scan = config::ScanSandboxes(own.sandboxes_path);
  for (const std::string& note : scan.notes) Log(console, note);
  for (const config::SandboxProblem& each : scan.problems) LogError(console, each.error);
  const std::set<std::string> unpacked = UnpackImages(scan, console);
  const bool built = BuildFlakes(config, console);
  service::AddSandboxImages(scan, config);
  const config::Catalogue catalogue = service::ReadEnvironments(config);
  bool missing = !built || !scan.problems.empty();
  for (const auto& tool :
       tools::MakeEnvironmentTools(scan, catalogue, tools::Uncovered::kLeaveOut)) {
    if (!tool.unavailable && unpacked.contains(tool.spec.id)) {
      Log(console, "'" + tool.spec.id + "': its image is unpacked");
      continue;
    }
    if (!tool.unavailable) {
      const auto found = catalogue.Find(tool.environment, environment::Depth::kOutline);
      Log(console,
          fmt::format("'{}' needs no build: it runs in the environment '{}' ({})", tool.spec.id,
                      tool.environment, found ? found->environment.provider : "igloo"));
      continue;
    }
    Log(console,
        fmt::format("'{}' cannot be used: {}", tool.spec.id, InOneLine(*tool.unavailable)));
    const bool theirs = std::ranges::any_of(
        scan.found, [&](const config::FoundSandbox& each) { return each.spec.id == tool.spec.id; });
    missing = missing || theirs;
  }
  return missing ? kExitFailed : 0;
}

Result<int> ServeSandboxes(const config::SandboxMcpConfig& config, Transport transport,
                           Console& console) {
  if (transport == Transport::kUnsaid) IGLOO_TRY(RefuseHttp(ReadDaemon({}), kSandboxMcp));
  for (const std::string& note : config.notes) Log(console, note);
  return cli::Serve(
      {.face = {.info = {.name = "Sandbox MCP", .version = kVersion},
                .features = {.list_changes = false},
                .instructions = [](const auto&, const auto&) { return std::string(); }},
       .contracts =
           [](tools::Workshop workshop) {
             std::vector<std::unique_ptr<tools::Contract>> contracts;
             contracts.push_back(std::make_unique<tools::PerEnvironmentContract>(
                 workshop, tools::Uncovered::kLeaveOut));
             return contracts;
           },
       .args = WithNamedProject({}, [&](std::string_view note) { Log(console, note); }),
       .sandboxes = [](const config::Config&) { return Sandboxes::kServe; },
       .say = [&console](std::string_view text) { Log(console, text); }},
      console);
}

Result<int> Run(const std::set<std::string_view>& given, Console& console) {
  IGLOO_ASSIGN(const config::SandboxMcpConfig config,
               config::LoadSandboxMcpConfig(service::ReadVariables()));
  if (given.contains("pull")) {
    return Pull(config.sandboxes_path,
                given.contains("force") ? Existing::kOverwrite : Existing::kSkip, console);
  }
  if (given.contains("build")) return Build(config, console);
  return ServeSandboxes(config, given.contains("stdio") ? Transport::kStdio : Transport::kUnsaid,
                        console);
}

}  // namespace

int SandboxMcpMain(std::span<const std::string> words, Console& console) {
  const auto given = ParseOptions(words);
  if (!given) {
    LogError(console, given.error());
    return kExitUsage;
  }
  if (given->contains("help")) {
    console.Out(Usage());
    return 0;
  }
  if (given->contains("version")) {
    console.Out(fmt::format("sandbox-mcp {} (igloo {})\n", kVersion, IGLOO_VERSION));
    return 0;
  }
  const Result<int> code = Run(*given, console);
  if (code) return *code;
  LogError(console, code.error());
  return kExitFailed;
}

}  // namespace igloo::cli
