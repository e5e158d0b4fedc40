#include "environment/registry.h"

#include <algorithm>

#include "base/text.h"

namespace igloo::environment {
namespace {

Listing Outline(const Artifact& artifact) {
  return {.name = artifact.metadata.name,
          .aliases = artifact.metadata.aliases,
          .description = artifact.metadata.description,
          .provider = artifact.metadata.image.empty() ? "artifact" : "image",
          .unavailable = artifact.unavailable};
}

Listing Outline(const HostEnvironment& row, const HostLayout& layout) {
  Listing listing{.name = std::string(row.name),
                  .aliases = {row.aliases.begin(), row.aliases.end()},
                  .description = std::string(row.description),
                  .provider = "host"};
  if (auto made = MakeHostEnvironment(row, layout); !made) listing.unavailable = made.error();
  return listing;
}

bool IsPresetName(std::string_view name) {
  return std::ranges::any_of(HostEnvironments(),
                             [&](const HostEnvironment& row) { return row.name == name; });
}

}  // namespace

std::vector<Artifact> ImagePresets() {
  ArtifactMetadata apisix{.schema = 1,
                          .name = "apisix",
                          .description = "The programs of Apache APISIX 3.9 and a shell",
                          .timeout_seconds = 60,
                          .image = "docker.io/apache/apisix:3.9.0-debian"};
  return {{.metadata = std::move(apisix)}};
}

Registry::Registry(HostLayout host, ArtifactScan artifacts, ArtifactOpener open,
                   std::vector<Artifact> installed)
    : host_(std::move(host)),
      artifacts_(std::move(artifacts)),
      open_(std::move(open)),
      installed_(std::move(installed)) {
  if (!open_) open_ = [](const Artifact& artifact) { return OpenArtifact(artifact); };
  names_.reserve(artifacts_.found.size());
  for (std::size_t i = 0; i < artifacts_.found.size(); ++i) {
    const ArtifactMetadata& metadata = artifacts_.found[i].metadata;
    names_.emplace(metadata.name, i);
    for (const std::string& alias : metadata.aliases) aliases_.emplace(alias, i);
  }
}

const Artifact* Registry::FindArtifact(std::string_view name) const {
  const auto found = names_.find(name);
  return found == names_.end() ? nullptr : &artifacts_.found[found->second];
}

const Artifact* Registry::FindArtifactOrAlias(std::string_view name) const {
  if (const Artifact* named = FindArtifact(name)) return named;
  const auto found = aliases_.find(name);
  if (found == aliases_.end() || IsPresetName(name)) return nullptr;
  return &artifacts_.found[found->second];
}

Error Registry::Unknown(std::string_view name, const std::vector<std::string>& more) const {
  std::vector<std::string_view> words;  // what may be meant, aliases too
  std::string known;
  const auto add = [&](std::string_view each) {
    if (std::ranges::find(words, each) != words.end()) return;
    words.push_back(each);
    known += (known.empty() ? "" : ", ") + std::string(each);
  };
  for (const HostEnvironment& row : HostEnvironments()) add(row.name);
  for (const Artifact& artifact : artifacts_.found) add(artifact.metadata.name);
  for (const std::string& each : more) add(each);
  for (const HostEnvironment& row : HostEnvironments()) {
    words.insert(words.end(), row.aliases.begin(), row.aliases.end());
  }
  for (const Artifact& artifact : artifacts_.found) {
    words.insert(words.end(), artifact.metadata.aliases.begin(), artifact.metadata.aliases.end());
  }
  const std::string nearest = Nearest(name, words.data(), words.size());
  return {Errc::kNotFound, "there is no environment '" + Printable(name) + "'",
          nearest.empty() ? "choose one of: " + known : "did you mean '" + nearest + "'?", 0};
}

Result<Environment> Registry::Open(const Artifact& artifact, Depth depth) const {
  if (artifact.unavailable) return std::unexpected(*artifact.unavailable);
  // What an image brings is known when it has been looked at, and that is not much.
  if (!artifact.metadata.image.empty()) return open_(artifact);
  if (depth == Depth::kOutline) return OutlineOf(artifact);
  const auto known = opened_.find(artifact.directory);
  if (known != opened_.end()) return known->second;
  IGLOO_ASSIGN(Environment opened, open_(artifact));
  return opened_.emplace(artifact.directory, std::move(opened)).first->second;
}

Result<Environment> Registry::Find(std::string_view name, Depth depth) const {
  if (const Artifact* artifact = FindArtifactOrAlias(name)) return Open(*artifact, depth);
  const HostEnvironment* row = FindHostEnvironment(name);
  if (row == nullptr) return std::unexpected(Unknown(name));
  // An alias stands for the name, and the name may be somebody's own.
  if (const Artifact* artifact = FindArtifact(row->name)) return Open(*artifact, depth);
  return MakeHostEnvironment(*row, host_);
}

Result<Environment> Registry::FindPreset(std::string_view name, Depth depth) const {
  const HostEnvironment* row = FindHostEnvironment(name);
  const std::string_view key = row != nullptr ? row->name : name;
  const auto is_meant = [&](const Artifact& each) { return each.metadata.name == key; };
  const auto installed = std::ranges::find_if(installed_, is_meant);
  if (installed != installed_.end()) return Open(*installed, depth);
  if (row != nullptr) return MakeHostEnvironment(*row, host_);
  if (std::ranges::find(kInstalledPresets, name) == std::end(kInstalledPresets)) {
    return std::unexpected(Unknown(name));
  }
  return Fail(Errc::kFailedPrecondition,
              "the preset '" + std::string(name) + "' is built by Nix, and this igloo has none",
              "add it from igloo's flake: igloo env add FLAKE#" + std::string(name));
}

Listing Registry::ListingOf(const Artifact& artifact) const {
  Listing row = Outline(artifact);
  if (artifact.metadata.image.empty() || row.unavailable) return row;
  if (auto made = Open(artifact, Depth::kOutline); !made) row.unavailable = made.error();
  return row;
}

std::vector<Listing> Registry::List() const {
  std::vector<Listing> list;
  for (const HostEnvironment& row : HostEnvironments()) {
    const Artifact* artifact = FindArtifact(row.name);
    list.push_back(artifact != nullptr ? ListingOf(*artifact) : Outline(row, host_));
    if (artifact == nullptr) continue;
    for (const std::string_view alias : row.aliases) {
      auto& aliases = list.back().aliases;
      if (std::ranges::find(aliases, alias) == aliases.end()) aliases.emplace_back(alias);
    }
  }
  list.reserve(list.size() + names_.size());
  std::vector<const Artifact*> others;
  others.reserve(names_.size());
  for (const auto& [name, index] : names_) {
    if (!IsPresetName(name)) others.push_back(&artifacts_.found[index]);
  }
  std::ranges::sort(others, {},
                    [](const Artifact* each) -> const std::string& { return each->metadata.name; });
  for (const Artifact* each : others) list.push_back(ListingOf(*each));
  return list;
}

}  // namespace igloo::environment
