#include "agent/roster.h"

#include <algorithm>

#include "agent/registry.h"
#include "base/text.h"
#include "sandbox/path.h"

namespace igloo::agent {
namespace {

std::unexpected<Error> Wrong(const config::AgentConfig& agent, const std::string& what,
                             std::string hint) {
  return Fail(Errc::kInvalidArgument, "[agents." + agent.name + "] " + what, std::move(hint));
}

/// "a/b": without ".." and the like.
bool IsPlainRelative(const std::string& path) {
  return !path.starts_with('/') && sandbox::CheckTarget("/" + path).has_value();
}

std::string KnownNames() {
  std::string names;
  for (const Profile* each : Profiles()) {
    names += (names.empty() ? "" : ", ") + std::string(each->name);
  }
  return names;
}

template <class Texts>
std::vector<std::string_view> Joined(std::span<const std::string_view> first, const Texts& more) {
  std::vector<std::string_view> all(first.begin(), first.end());
  all.insert(all.end(), more.begin(), more.end());
  return all;
}

}  // namespace

Result<Roster> Roster::Make(const config::Config& config) {
  Roster roster;
  roster.all_.assign(Profiles().begin(), Profiles().end());
  for (const auto& [name, agent] : config.agents) IGLOO_TRY(roster.Add(agent));
  return roster;
}

const Profile* Roster::Find(std::string_view name) const {
  const auto found = std::ranges::find(all_, name, &Profile::name);
  return found == all_.end() ? nullptr : *found;
}

Result<void> Roster::Add(const config::AgentConfig& agent) {
  if (auto fine = CheckBoxName(agent.name); !fine) {
    return Wrong(agent, fine.error().what, fine.error().hint);
  }
  const Profile* known = FindProfile(agent.name);
  const Profile* base = agent.base.empty() ? known : FindProfile(agent.base);
  if (base == nullptr && !agent.base.empty()) {
    return Wrong(agent, "starts from '" + agent.base + "', which is no agent",
                 "igloo knows " + KnownNames());
  }
  if (base == nullptr && agent.program.empty()) {
    return Wrong(agent, "names no program",
                 "add program = \"" + agent.name + "\", or base with one of " + KnownNames());
  }
  for (const std::string& path : agent.home) {
    if (IsPlainRelative(path)) continue;
    return Wrong(agent, "'" + Printable(path) + "' is no directory below home",
                 "write it relative to home: home = [\".cache/pip\"]");
  }
  auto added = std::make_unique<Added>(Added{.text = agent});
  const config::AgentConfig& text = added->text;
  Profile& profile = added->profile;
  if (base != nullptr) profile = *base;
  profile.name = text.name;
  if (base != known || known == nullptr) profile.title = text.name;
  if (!text.program.empty()) {
    profile.program = text.program;
    profile.install = {};
  }
  profile.arguments = added->arguments = Joined(profile.arguments, text.arguments);
  profile.variables = added->variables = Joined(profile.variables, text.pass);
  profile.domains = added->domains = Joined(profile.domains, text.allow);
  profile.home = added->home = Joined(profile.home, text.home);
  if (known != nullptr) std::erase(all_, known);
  all_.push_back(&profile);
  added_.push_back(std::move(added));
  return {};
}

}  // namespace igloo::agent
