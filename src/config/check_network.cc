#include "config/check_network.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/text.h"
#include "network/secret.h"

namespace igloo::config {
namespace {

constexpr std::string_view kSources[] = {"variable", "file", "command"};

std::string KnownSecrets(const Config& config) {
  std::string known;
  for (const auto& each : config.secrets) known += (known.empty() ? "" : ", ") + each.first;
  return known.empty() ? "add its section: [secrets.NAME]" : "known here: " + known;
}

std::optional<Problem> FindProblem(const Config& config, const EnvironmentConfig& environment) {
  const auto problem = [&](std::string_view what, std::string hint) {
    return Problem{environment.where, fmt::format("environment '{}': {}", environment.name, what),
                   std::move(hint)};
  };
  for (const std::string& name : environment.network.secrets) {
    if (config.secrets.contains(name)) continue;
    return problem(fmt::format("there is no secret '{}'", Printable(name)), KnownSecrets(config));
  }
  const network::Wanted wanted = NetworkFor(config, environment.name);
  if (!environment.network.secrets.empty() && !network::Proxied(wanted.level)) {
    return problem(fmt::format("secrets need igloo's proxy, which the network '{}' does not have",
                               network::ToText(wanted.level)),
                   "write network = \"allow\", and allow the secret's host");
  }
  if (const auto checked = network::Check(wanted); !checked) {
    return problem(checked.error().what, checked.error().hint);
  }
  return std::nullopt;
}

}  // namespace

void CheckSecret(const SecretConfig& secret, const Table& table, std::vector<Problem>& problems) {
  const auto complain = [&](const Position& where, std::string what, std::string hint) {
    problems.push_back({where, std::move(what), std::move(hint)});
  };
  std::vector<const Member*> sources;
  const Member* hosts = nullptr;
  for (const Member& member : table.members) {
    if (std::ranges::find(kSources, member.key) != std::end(kSources)) sources.push_back(&member);
    if (member.key == "hosts") hosts = &member;
  }
  std::ranges::sort(sources, {}, [](const Member* each) { return each->where; });
  if (sources.empty()) {
    complain(secret.where,
             fmt::format("secret '{}' does not say where its value comes from", secret.name),
             "add variable, file or command, for example variable = \"GITHUB_TOKEN\"");
  } else if (sources.size() > 1) {
    complain(sources[1]->where,
             fmt::format("secret '{}' comes from '{}' already", secret.name, sources[0]->key),
             fmt::format("keep either '{}' or '{}'", sources[0]->key, sources[1]->key));
  }
  // SECURITY: a secret without hosts would be one for everybody, or for nobody.
  const auto* list = hosts != nullptr ? std::get_if<Array>(&hosts->value.data) : nullptr;
  if (hosts == nullptr || (list != nullptr && list->items.empty())) {
    complain(secret.where, fmt::format("secret '{}' does not say whom it is for", secret.name),
             "add hosts, for example hosts = [\"api.github.com\"]");
  }
  // SECURITY: without one, code would choose which header holds the value, and servers repeat many.
  if (secret.header.empty()) {
    complain(secret.where,
             fmt::format("secret '{}' names no header that it may stand in", secret.name),
             "add the header that its hosts take it in, for example header = \"Authorization\"");
  } else if (!network::ParseHeaderNames(secret.header)) {
    complain(secret.where, fmt::format("'{}' is no name of a header", Printable(secret.header)),
             "write one such as header = \"Authorization\"");
  }
  if (secret.name[0] >= '0' && secret.name[0] <= '9') {
    complain(secret.where,
             fmt::format("secret '{}' cannot be a variable of that name", secret.name),
             "let its name begin with a letter");
  }
}

void CheckNetworks(const Config& config, std::vector<Problem>& problems) {
  std::map<std::string_view, const SecretConfig*> variables;
  for (const auto& [name, secret] : config.secrets) {
    const auto [at, added] = variables.emplace(secret.inside, &secret);
    if (added) continue;
    problems.push_back({secret.where,
                        fmt::format("secrets '{}' and '{}' would both be the variable '{}'",
                                    at->second->name, name, secret.inside),
                        "give one of them another name"});
  }
  for (const auto& each : config.environments) {
    if (each.second.source.kind == SourceKind::kAlias) continue;
    if (auto problem = FindProblem(config, each.second)) problems.push_back(*std::move(problem));
  }
}

}  // namespace igloo::config
