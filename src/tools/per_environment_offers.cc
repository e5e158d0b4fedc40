#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/text.h"
#include "config/sandbox_mcp_builtin.h"
#include "environment/interpreter.h"
#include "tools/per_environment.h"

namespace igloo::tools {
namespace {

using config::SandboxSpec;
using environment::Depth;

std::string Lower(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
  return out;
}

bool IsRoot(std::string_view user) {
  const std::string_view name = user.substr(0, user.find(':'));
  return name == "root" || name.find_first_not_of('0') == std::string_view::npos;
}

Result<void> CheckNetwork(const SandboxSpec& spec) {
  const std::string& network = spec.security.network;
  if (network.empty() || network == "none" || network == "bridge") return {};
  return Fail(Errc::kFailedPrecondition,
              fmt::format("'{}' asks for the network '{}', which no sandbox gets", spec.id,
                          Printable(network)),
              "write \"network\": \"none\" or \"network\": \"bridge\" in its config.json");
}

constexpr std::string_view kFix =
    "name one of 'igloo env list' as \"image\" in its config.json, or an image "
    "(\"oci:PATH\", or a name that 'igloo env pull' fetched), or configure an environment of "
    "this name";

/// What of a sandbox's name stands for in the catalogue; python is the one with the libraries where
/// there is one.
Result<config::Configured> FindEnvironment(const SandboxSpec& spec,
                                           const config::Catalogue& catalogue) {
  const std::string_view name = config::EnvironmentNameOf(spec);
  if (name.empty()) {
    // Whatever igloo has of that name would be something else than what was asked for.
    return Fail(Errc::kFailedPrecondition,
                fmt::format("'{}' needs the image '{}', which is not pulled yet", spec.id,
                            Printable(spec.image)),
                fmt::format("igloo env pull {}; or name an environment of 'igloo env list' as "
                            "\"image\" in its config.json",
                            ShellQuote(Printable(spec.image))));
  }
  if (name == "python") {
    if (auto with_libraries = catalogue.Find("python-data", Depth::kOutline)) return with_libraries;
  }
  auto found = catalogue.Find(name, Depth::kOutline);
  if (found || found.error().code != Errc::kNotFound) return found;
  return Fail(
      Errc::kNotFound,
      fmt::format("'{}' needs the environment '{}', which is not there", spec.id, Printable(name)),
      std::string(kFix));
}

void Raise(std::optional<std::uint64_t>& value, const std::optional<std::uint64_t>& least) {
  if (value && least) value = std::max(*value, *least);
}

/// The numbers that hold: the file's, never less than the programs need, else the environment's.
void Settle(const environment::Environment& environment, SandboxSpec::Resources& resources) {
  const SandboxSpec::Resources least = config::LeastResources(environment.name);
  Raise(resources.memory_mb, least.memory_mb);
  Raise(resources.processes, least.processes);
  Raise(resources.files, least.files);
  const sandbox::Limits& limits = environment.limits;
  const auto otherwise = [](std::optional<std::uint64_t>& value, std::uint64_t limit) {
    if (!value && limit > 0) value = limit;
  };
  otherwise(resources.memory_mb, limits.memory_bytes >> 20);
  otherwise(resources.processes, limits.processes);
  otherwise(resources.files, limits.open_files);
}

/// The environment's directories below igloo's usual home are caches of tools, and these runs have
/// no such home: they go where can always be written. The home itself is where code lies.
std::map<std::string, std::string> Relocate(const environment::Environment& environment,
                                            const SandboxSpec& spec) {
  const std::string home = environment::Place{}.home;
  std::map<std::string, std::string> relocated;
  for (const auto& [name, value] : environment.variables) {
    if (value == home) relocated[name] = spec.mount.workdir;
    if (value.starts_with(home + "/")) relocated[name] = "/tmp" + value.substr(home.size());
  }
  return relocated;
}

EnvironmentTool MakeTool(SandboxSpec spec, const config::Catalogue& catalogue) {
  EnvironmentTool tool{.spec = std::move(spec)};
  if (auto fine = CheckWall(tool.spec); !fine) tool.unavailable = std::move(fine).error();
  auto configured = FindEnvironment(tool.spec, catalogue);
  if (configured) {
    tool.environment = configured->environment.name;
    Settle(configured->environment, tool.spec.resources);
    tool.variables = Relocate(configured->environment, tool.spec);
    tool.raw_sockets = configured->network.raw_sockets;
    tool.entrypoint = configured->environment.entrypoint;
    // Nothing that a sandbox's own file asks for beats a user who says no.
    const bool closed =
        configured->names_network && configured->network.level == network::Level::kNone;
    if (closed) tool.spec.security.network = "none";
  } else if (!tool.unavailable) {
    tool.unavailable = std::move(configured).error();
  } else {
    // Whoever does the one thing would only find the other.
    tool.unavailable->hint += "; its environment is missing, too: " + configured.error().hint;
  }
  return tool;
}

void AddUncovered(const config::Catalogue& catalogue, std::vector<EnvironmentTool>& tools) {
  std::set<std::string> covered;
  for (const EnvironmentTool& tool : tools) covered.insert({tool.environment, tool.spec.id});
  for (const environment::Listing& row : catalogue.List()) {
    if (covered.contains(row.name) || row.unavailable) continue;
    const auto configured = catalogue.Find(row.name, Depth::kOutline);
    if (!configured) continue;
    EnvironmentTool tool{.spec = SpecFor(configured->environment), .environment = row.name};
    tool.variables = Relocate(configured->environment, tool.spec);
    if (covered.insert(tool.spec.id).second) tools.push_back(std::move(tool));
  }
}

}  // namespace

Result<void> CheckWall(const SandboxSpec& spec) {
  const SandboxSpec::Security& security = spec.security;
  if (IsRoot(spec.user)) {
    return Fail(Errc::kPermissionDenied,
                fmt::format("'{}' asks for the user '{}', which no sandbox gets", spec.id,
                            Printable(spec.user)),
                "write \"user\": \"sandbox\" in its config.json");
  }
  const auto drops_all = [](const std::string& name) { return Lower(name) == "all"; };
  if (std::ranges::none_of(security.cap_drop, drops_all)) {
    return Fail(Errc::kPermissionDenied,
                fmt::format("'{}' asks to keep capabilities, which no sandbox gets", spec.id),
                "write \"capDrop\": [\"all\"] in its config.json");
  }
  for (const std::string& option : security.options) {
    const bool ours = option == "no-new-privileges" || option == "no-new-privileges:true" ||
                      option == "no-new-privileges=true";
    if (ours) continue;
    return Fail(Errc::kPermissionDenied,
                fmt::format("'{}' asks for the security option '{}'; igloo has a wall of its own",
                            spec.id, Printable(option)),
                "write \"securityOpt\": [\"no-new-privileges:true\"] in its config.json");
  }
  return CheckNetwork(spec);
}

SandboxSpec SpecFor(const environment::Environment& environment) {
  SandboxSpec spec{.id = environment.name,
                   .name = environment.name,
                   .description = environment.description,
                   .image = environment.name,
                   .entrypoint = environment.code_file,
                   .timeout_seconds = (environment.limits.time_ms + 999) / 1000,
                   .command = environment::FileCommand(environment),
                   .additional_files = true};
  // The names of environments may have dots, those of tools may not.
  std::ranges::replace(spec.id, '.', '_');
  spec.command.push_back(environment.code_file);
  Settle(environment, spec.resources);
  return spec;
}

std::vector<EnvironmentTool> MakeEnvironmentTools(const config::SandboxScan& scan,
                                                  const config::Catalogue& catalogue,
                                                  Uncovered uncovered) {
  std::vector<SandboxSpec> specs(config::BuiltinSandboxes().begin(),
                                 config::BuiltinSandboxes().end());
  for (const config::FoundSandbox& each : scan.found) {
    const auto same = std::ranges::find(specs, each.spec.id, &SandboxSpec::id);
    if (same != specs.end()) {
      *same = each.spec;
    } else {
      specs.push_back(each.spec);
    }
  }
  std::vector<EnvironmentTool> tools;
  tools.reserve(specs.size());
  for (SandboxSpec& spec : specs) tools.push_back(MakeTool(std::move(spec), catalogue));
  if (uncovered == Uncovered::kServe) AddUncovered(catalogue, tools);
  return tools;
}

}  // namespace igloo::tools
