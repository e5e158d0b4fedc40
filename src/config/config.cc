#include "config/config.h"

#include <fmt/format.h>

#include <initializer_list>

#include "config/decode.h"
#include "config/problem.h"
#include "environment/host.h"

namespace igloo::config {
namespace {

constexpr std::string_view kPrefix = "environments.";

Error Refusal(const Unavailable& missing) {
  return {Errc::kFailedPrecondition, Place(missing.file, missing.where) + ": " + missing.what,
          "remove it, or use a newer igloo; everything else in the file keeps working", 0};
}

}  // namespace

std::string_view Name(environment::ProjectMode mode) {
  return mode == environment::ProjectMode::kReadWrite ? "readwrite"
         : mode == environment::ProjectMode::kOverlay ? "overlay"
                                                      : "readonly";
}

std::optional<Tools> FindTools(std::string_view word) {
  if (word == "run") return Tools::kRun;
  if (word == "per-environment") return Tools::kPerEnvironment;
  if (word == "both") return Tools::kBoth;
  return std::nullopt;
}

std::string_view Name(Tools tools) {
  switch (tools) {
    case Tools::kRun:
      return "run";
    case Tools::kPerEnvironment:
      return "per-environment";
    case Tools::kBoth:
      return "both";
  }
  return "";
}

std::string_view Name(SourceKind kind) {
  switch (kind) {
    case SourceKind::kPreset:
      return "preset";
    case SourceKind::kArtifact:
      return "path";
    case SourceKind::kAlias:
      return "alias";
    case SourceKind::kFlake:
      return "flake";
    case SourceKind::kDevShell:
      return "use_flake";
    case SourceKind::kImage:
      return "image";
  }
  return "";
}

std::string_view Name(SecretSource::Kind kind) {
  switch (kind) {
    case SecretSource::Kind::kVariable:
      return "variable";
    case SecretSource::Kind::kFile:
      return "file";
    case SecretSource::Kind::kCommand:
      return "command";
  }
  return "";
}

std::string VariableFor(std::string_view secret) {
  std::string out(secret);
  for (char& c : out) {
    if (c == '-' || c == '.') c = '_';
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
  }
  return out;
}

Limits Layer(const Limits& over, const Limits& under) {
  Limits out = over;
  for (const auto field :
       {&Limits::time_ms, &Limits::memory_bytes, &Limits::cpu_ms, &Limits::millicpus,
        &Limits::processes, &Limits::open_files, &Limits::file_bytes, &Limits::disk_bytes,
        &Limits::disk_files, &Limits::output_bytes}) {
    if (!(out.*field)) out.*field = under.*field;
  }
  return out;
}

std::string Resolve(const Config& config, std::string_view name) {
  std::string resolved(name);
  // Cycles are refused when a file is read; the bound keeps a hand-made Config from hanging.
  for (std::size_t step = 0; step < config.environments.size(); ++step) {
    const auto found = config.environments.find(resolved);
    if (found == config.environments.end() || found->second.source.kind != SourceKind::kAlias)
      break;
    resolved = found->second.source.value;
  }
  return resolved;
}

std::string Canonical(const Config& config, std::string_view name) {
  std::string resolved = Resolve(config, name);
  if (config.environments.empty() || config.environments.contains(resolved)) return resolved;
  const environment::HostEnvironment* row = environment::FindHostEnvironment(resolved);
  const bool leads_on = row != nullptr && config.environments.contains(std::string(row->name));
  return leads_on ? Resolve(config, row->name) : resolved;
}

const EnvironmentConfig* FindEnvironment(const Config& config, std::string_view name) {
  const auto found = config.environments.find(Resolve(config, name));
  return found == config.environments.end() ? nullptr : &found->second;
}

Limits LimitsFor(const Config& config, std::string_view environment) {
  const EnvironmentConfig* found = FindEnvironment(config, environment);
  return Layer(found != nullptr ? found->limits : Limits{}, config.limits);
}

const wall::Wall* BackendFor(const Config& config, std::string_view environment) {
  const EnvironmentConfig* found = FindEnvironment(config, environment);
  return found != nullptr && found->backend != nullptr ? found->backend : config.backend;
}

network::Wanted NetworkFor(const Config& config, std::string_view environment,
                           std::optional<network::Level> level) {
  const EnvironmentConfig* found = FindEnvironment(config, environment);
  const NetworkConfig own = found != nullptr ? found->network : NetworkConfig{};
  network::Wanted wanted{.level = level.value_or(own.level.value_or(config.network))};
  // A sandbox without a network reaches nothing anyway; nobody could keep it from one in the
  // host's, which is then refused (network::Check).
  if (wanted.level != network::Level::kNone) {
    for (const std::string& place : config.deny) wanted.rules.push_back("deny " + place);
  }
  if (level && !network::Proxied(*level)) return wanted;
  if (wanted.level == network::Level::kAllow) {
    wanted.rules.insert(wanted.rules.end(), config.allow.begin(), config.allow.end());
  }
  wanted.rules.insert(wanted.rules.end(), own.allow.begin(), own.allow.end());
  wanted.publish = own.publish;
  wanted.reach = own.reach;
  // A level that somebody lowers takes the right with it; a file that contradicts itself is told
  // so.
  wanted.raw_sockets = own.raw_sockets && (!level || *level == network::Level::kInternet);
  return wanted;
}

std::vector<SecretConfig> SecretsFor(const Config& config, std::string_view environment) {
  const EnvironmentConfig* found = FindEnvironment(config, environment);
  std::vector<SecretConfig> secrets;
  if (found == nullptr) return secrets;
  for (const std::string& name : found->network.secrets) {
    // One that is not there was refused when the file was read.
    if (const auto at = config.secrets.find(name); at != config.secrets.end()) {
      secrets.push_back(at->second);
    }
  }
  return secrets;
}

environment::HideRules HiddenFor(const Config& config, std::string_view environment) {
  environment::HideRules rules = config.project.hidden;
  if (const EnvironmentConfig* found = FindEnvironment(config, environment)) {
    const auto append = [](const std::vector<std::string>& from, std::vector<std::string>& to) {
      to.insert(to.end(), from.begin(), from.end());
    };
    append(found->hidden.hide, rules.hide);
    append(found->hidden.show, rules.show);
  }
  return rules;
}

Result<void> CheckAvailable(const Config& config, std::string_view section) {
  for (const Unavailable& missing : config.unavailable) {
    if (missing.section == section) return std::unexpected(Refusal(missing));
  }
  return {};
}

Result<void> CheckEnvironmentAvailable(const Config& config, std::string_view environment) {
  const EnvironmentConfig* found = FindEnvironment(config, environment);
  // An alias may end at a preset that the file does not name; then only the shared ones count.
  if (found != nullptr) {
    IGLOO_TRY(CheckAvailable(config, std::string(kPrefix) + found->name));
  }
  for (const std::string_view shared : {"defaults", "limits"}) {
    IGLOO_TRY(CheckAvailable(config, shared));
  }
  return {};
}

Result<Config> WithProjectFlake(Config config) {
  const ProjectConfig& project = config.project;
  if (!project.use_flake || project.path.empty()) return config;
  EnvironmentConfig own{.name = std::string(kProjectEnvironment),
                        .file = project.use_flake_file,
                        .where = project.use_flake_where,
                        .origin = Origin::kProject,
                        .source = {SourceKind::kDevShell, project.path}};
  const auto [at, added] = config.environments.emplace(own.name, own);
  if (added) return config;
  return Fail(Errc::kInvalidArgument,
              fmt::format("{}: 'use_flake' makes the environment 'project', which is already "
                          "configured at {}",
                          Place(own.file, own.where), Place(at->second.file, at->second.where)),
              "give that one another name, or leave 'use_flake' out");
}

Result<Config> Merge(Config user, const Config& project) {
  for (const auto& [name, environment] : project.environments) {
    const auto [at, added] = user.environments.emplace(name, environment);
    if (added) continue;
    return Fail(Errc::kInvalidArgument,
                fmt::format("{}: environment '{}' is already configured at {}",
                            Place(environment.file, environment.where), name,
                            Place(at->second.file, at->second.where)),
                "give one of them another name");
  }
  // It hides more, and opens nothing: the table of keys does not let it.
  for (const std::string& glob : project.project.hidden.hide) {
    user.project.hidden.hide.push_back(glob);
  }
  if (project.project.use_flake) {
    user.project.use_flake = true;
    user.project.use_flake_file = project.file;
    user.project.use_flake_where = project.project.use_flake_where;
  }
  if (const auto cycle = FindAliasCycle(user)) {
    return Fail(Errc::kInvalidArgument, project.file + ": " + cycle->what, cycle->hint);
  }
  for (const Unavailable& missing : project.unavailable) user.unavailable.push_back(missing);
  return user;
}

}  // namespace igloo::config
