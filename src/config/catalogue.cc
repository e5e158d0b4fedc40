#include "config/catalogue.h"

#include <algorithm>

#include "config/problem.h"
#include "environment/host.h"
#include "environment/interpreter.h"

namespace igloo::config {
namespace {

using environment::Depth;
using environment::Environment;
using environment::Listing;

void Set(std::uint64_t& value, const std::optional<std::uint64_t>& limit) {
  if (limit) value = *limit;
}

void ApplyLimits(const Limits& limits, Environment& environment) {
  sandbox::Limits& out = environment.limits;
  Set(out.time_ms, limits.time_ms);
  Set(out.memory_bytes, limits.memory_bytes);
  Set(out.millicpus, limits.millicpus);
  Set(out.processes, limits.processes);
  Set(out.open_files, limits.open_files);
  Set(out.file_bytes, limits.file_bytes);
  // The kernel counts whole seconds, and none would be no limit at all.
  if (limits.cpu_ms) out.cpu_seconds = (*limits.cpu_ms + 999) / 1000;
  Set(environment.room.disk_bytes, limits.disk_bytes);
  Set(environment.room.disk_files, limits.disk_files);
  Set(environment.room.output_bytes, limits.output_bytes);
}

std::string_view ProviderOf(SourceKind kind) {
  return kind == SourceKind::kPreset     ? "host"
         : kind == SourceKind::kArtifact ? "artifact"
         : kind == SourceKind::kDevShell ? "flake"
                                         : Name(kind);
}

auto FindRow(std::vector<Listing>& list, std::string_view name) {
  return std::ranges::find(list, name, &Listing::name);
}

}  // namespace

std::string Catalogue::CanonicalOf(std::string_view name) const {
  std::string resolved = Resolve(config_, name);
  if (config_.environments.contains(resolved)) return resolved;
  // An artifact's own names count before what they stand for with igloo.
  const environment::Artifact* artifact = found_.registry.FindArtifactOrAlias(resolved);
  return artifact != nullptr ? artifact->metadata.name : Canonical(config_, resolved);
}

Result<Environment> Catalogue::Make(const EnvironmentConfig& own, Depth depth) const {
  const Source& source = own.source;
  if (source.kind == SourceKind::kPreset) {
    return source.implied ? found_.registry.Find(source.value, depth)
                          : found_.registry.FindPreset(source.value, depth);
  }
  const std::string place = Place(own.file, own.where);
  const auto image = found_.images.find(own.name);
  if (source.kind == SourceKind::kImage && image != found_.images.end()) {
    if (!image->second) return Wrap(place, image->second.error());
    return image->second;
  }
  if (source.kind == SourceKind::kFlake || source.kind == SourceKind::kDevShell) {
    const auto flake = found_.flakes.find(own.name);
    if (flake == found_.flakes.end()) {
      return Fail(Errc::kInternal, place + ": '" + source.value + "' was not looked at");
    }
    // What was added has no file.
    if (!flake->second && !own.file.empty()) return Wrap(place, flake->second.error());
    return flake->second;
  }
  const auto artifact = found_.artifacts.find(source.value);
  if (source.kind != SourceKind::kArtifact || artifact == found_.artifacts.end()) {
    return Fail(Errc::kInternal, place + ": '" + source.value + "' was not looked at");
  }
  if (!artifact->second) {
    Error error = artifact->second.error();
    if (error.hint.empty()) error.hint = "'path' names a directory that mkSandbox made";
    return Wrap(place, std::move(error));
  }
  auto opened = found_.registry.Open(*artifact->second, depth);
  if (!opened) return Wrap(place, std::move(opened).error());
  return opened;
}

std::vector<std::string> Catalogue::AliasesOf(std::string_view name) const {
  std::vector<std::string> aliases;
  const environment::HostEnvironment* row = environment::FindHostEnvironment(name);
  if (row != nullptr && row->name == name) {
    for (const std::string_view alias : row->aliases) {
      const bool taken = config_.environments.contains(std::string(alias)) ||
                         found_.registry.FindArtifactOrAlias(alias) != nullptr;
      if (!taken) aliases.emplace_back(alias);
    }
  }
  if (const environment::Artifact* artifact = found_.registry.FindArtifact(name)) {
    for (const std::string& alias : artifact->metadata.aliases) {
      const bool taken = config_.environments.contains(alias) ||
                         found_.registry.FindArtifactOrAlias(alias) != artifact;
      if (!taken) aliases.push_back(alias);
    }
  }
  for (const auto& [alias, each] : config_.environments) {
    const bool leads_here =
        each.source.kind == SourceKind::kAlias && Resolve(config_, alias) == name;
    if (leads_here) aliases.push_back(alias);
  }
  return aliases;
}

Result<Configured> Catalogue::Find(std::string_view name, Depth depth) const {
  const std::string key = CanonicalOf(name);
  const EnvironmentConfig* own = FindEnvironment(config_, key);
  IGLOO_TRY(CheckEnvironmentAvailable(config_, key));
  const bool known = own != nullptr || found_.registry.FindArtifactOrAlias(key) != nullptr ||
                     environment::FindHostEnvironment(key) != nullptr;
  if (!known) {
    std::vector<std::string> names;
    names.reserve(config_.environments.size());
    for (const auto& each : config_.environments) names.push_back(each.first);
    return std::unexpected(found_.registry.Unknown(key, names));
  }
  Configured out{.backend = BackendFor(config_, key),
                 .limits = LimitsFor(config_, key),
                 .inherit = config_.project.inherit,
                 .network = NetworkFor(config_, key),
                 .names_network = own != nullptr && own->network.level.has_value(),
                 .secrets = SecretsFor(config_, key),
                 .resolver = config_.resolver,
                 .kernel = config_.kernel,
                 .hidden = HiddenFor(config_, key),
                 .audit = config_.audit};
  IGLOO_ASSIGN(out.environment,
               own != nullptr ? Make(*own, depth) : found_.registry.Find(key, depth));
  if (const auto& asked = out.environment.asked) {
    const bool chosen = own != nullptr && own->backend != nullptr;
    IGLOO_ASSIGN(const wall::Wall* const wall, wall::Choose(asked->backend));
    // SECURITY: a project says what is inside of its environment and never what that may do, so
    // what a flake asks for that its file names does not count.
    const bool may_ask = own == nullptr || own->origin == Origin::kUser;
    // The usual one is also what an artifact asks for that names none.
    if (may_ask && wall != &wall::kDefault && !chosen) out.backend = wall;
    const auto level = network::FindLevel(asked->network);
    if (may_ask && !out.names_network && level && network::Proxied(*level)) {
      out.network = NetworkFor(config_, key, level);
    }
    const Limits mine = own != nullptr ? own->limits : Limits{};
    out.limits.time_ms = mine.time_ms;
    out.limits.memory_bytes = mine.memory_bytes;
    if (asked->processes) out.limits.processes = mine.processes;
    if (asked->open_files) out.limits.open_files = mine.open_files;
  }
  ApplyLimits(out.limits, out.environment);
  out.warm = out.environment.warm.value_or(kUsualWarm);
  out.preload = out.environment.preload;
  if (own != nullptr) {
    out.environment.name = own->name;
    if (!own->description.empty()) out.environment.description = own->description;
    if (!own->interpreter.empty()) {
      environment::Start start = environment::StartFor(own->interpreter);
      out.environment.interpreter = std::move(start.interpreter);
      out.environment.passing = start.passing;
      out.environment.code_file = std::move(start.code_file);
      out.environment.language = std::move(start.language);
    }
    out.variables = own->variables;
    out.warm = own->warm.value_or(out.warm);
    if (!own->preload.empty()) out.preload = own->preload;
    out.environment.conveniences = own->conveniences.value_or(out.environment.conveniences);
    out.inherit.insert(out.inherit.end(), own->inherit.begin(), own->inherit.end());
  }
  out.environment.aliases = AliasesOf(out.environment.name);
  return out;
}

Listing Catalogue::ListingOf(const EnvironmentConfig& own) const {
  Listing row{.name = own.name,
              .aliases = AliasesOf(own.name),
              .description = own.description,
              .provider = std::string(ProviderOf(own.source.kind))};
  if (auto made = Find(own.name, Depth::kOutline)) {
    row.description = made->environment.description;
    row.provider = made->environment.provider;
    row.source = made->environment.source;
    row.locked = made->environment.locked;
  } else {
    row.unavailable = std::move(made).error();
  }
  return row;
}

/// An alias stands with what it leads to, which may be called by another name itself; one that
/// leads nowhere is listed all the same.
void Catalogue::ListAlias(const EnvironmentConfig& alias, std::vector<Listing>& list) const {
  const std::string target = Resolve(config_, alias.name);
  if (const auto row = FindRow(list, target); row != list.end()) return;
  const auto made = Find(target, Depth::kOutline);
  const auto row = made ? FindRow(list, made->environment.name) : list.end();
  if (row != list.end()) {
    row->aliases.push_back(alias.name);
  } else if (!made) {
    list.push_back({.name = alias.name, .provider = "alias", .unavailable = made.error()});
  }
}

std::vector<Listing> Catalogue::List() const {
  std::vector<Listing> list = found_.registry.List();
  const auto is_alias = [](const EnvironmentConfig& each) {
    return each.source.kind == SourceKind::kAlias;
  };
  for (Listing& row : list) {
    if (row.unavailable) continue;
    if (auto fine = CheckEnvironmentAvailable(config_, row.name); !fine) {
      row.unavailable = std::move(fine).error();
    }
  }
  for (const auto& [name, own] : config_.environments) {
    const auto row = FindRow(list, name);
    if (is_alias(own)) {
      if (row != list.end()) list.erase(row);
    } else if (row != list.end()) {
      *row = ListingOf(own);
    } else {
      list.push_back(ListingOf(own));
    }
  }
  for (Listing& row : list) row.aliases = AliasesOf(row.name);
  for (const auto& each : config_.environments) {
    if (is_alias(each.second)) ListAlias(each.second, list);
  }
  const auto is_preset = [](const Listing& row) {
    const environment::HostEnvironment* host = environment::FindHostEnvironment(row.name);
    return host != nullptr && host->name == row.name;
  };
  // Presets stand first already: nothing was put before them.
  const auto others = std::ranges::find_if_not(list, is_preset);
  const auto rest = std::ranges::subrange(others, list.end());
  if (!std::ranges::is_sorted(rest, {}, &Listing::name)) {
    std::ranges::sort(rest, {}, &Listing::name);
  }
  return list;
}

}  // namespace igloo::config
