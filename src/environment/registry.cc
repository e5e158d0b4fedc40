#include "environment/registry.h"

#include <algorithm>

#include "base/text.h"

namespace igloo::environment {
namespace {

Listing ListingOf(const Artifact& artifact) {
  Listing listing{.name = artifact.metadata.name,
                  .description = artifact.metadata.description,
                  .provider = "artifact"};
  if (!artifact.environment) listing.unavailable = artifact.environment.error();
  return listing;
}

Listing ListingOf(const HostEnvironment& row, const HostLayout& layout) {
  Listing listing{.name = std::string(row.name),
                  .aliases = {row.aliases.begin(), row.aliases.end()},
                  .description = std::string(row.description),
                  .provider = "host"};
  if (auto made = MakeHostEnvironment(row, layout); !made) listing.unavailable = made.error();
  return listing;
}

}  // namespace

const Artifact* Registry::FindArtifact(std::string_view name) const {
  const auto found = std::ranges::find_if(
      artifacts_.found, [&](const Artifact& each) { return each.metadata.name == name; });
  return found == artifacts_.found.end() ? nullptr : &*found;
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
  const std::string nearest = Nearest(name, words.data(), words.size());
  return {Errc::kNotFound, "there is no environment '" + Printable(name) + "'",
          nearest.empty() ? "choose one of: " + known : "did you mean '" + nearest + "'?", 0};
}

Result<Environment> Registry::Find(std::string_view name) const {
  if (const Artifact* artifact = FindArtifact(name)) return artifact->environment;
  const HostEnvironment* row = FindHostEnvironment(name);
  if (row == nullptr) return std::unexpected(Unknown(name));
  // An alias stands for the name, and the name may be somebody's own.
  if (const Artifact* artifact = FindArtifact(row->name)) return artifact->environment;
  return MakeHostEnvironment(*row, host_);
}

Result<Environment> Registry::FindPreset(std::string_view name) const {
  const HostEnvironment* row = FindHostEnvironment(name);
  if (row == nullptr) return std::unexpected(Unknown(name));
  return MakeHostEnvironment(*row, host_);
}

std::vector<Listing> Registry::List() const {
  std::vector<Listing> list;
  for (const HostEnvironment& row : HostEnvironments()) {
    const Artifact* artifact = FindArtifact(row.name);
    list.push_back(artifact != nullptr ? ListingOf(*artifact) : ListingOf(row, host_));
    if (artifact != nullptr) list.back().aliases = {row.aliases.begin(), row.aliases.end()};
  }
  const auto presets = static_cast<std::ptrdiff_t>(list.size());
  for (const Artifact& artifact : artifacts_.found) {
    const bool preset = std::ranges::any_of(HostEnvironments(), [&](const HostEnvironment& row) {
      return row.name == artifact.metadata.name;
    });
    if (!preset) list.push_back(ListingOf(artifact));
  }
  std::ranges::sort(list.begin() + presets, list.end(), {}, &Listing::name);
  return list;
}

}  // namespace igloo::environment
