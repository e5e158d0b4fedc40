#include "agent/keys.h"

#include <algorithm>

#include "config/secrets.h"
#include "network/secret.h"

namespace igloo::agent {
namespace {

/// "https://host/path" in parts.
struct Address {
  bool tls = false;
  std::string host = {};
  std::string rest = {};  ///< from the host on
};

Address ParseAddress(const std::string& text) {
  Address address;
  for (const std::string_view scheme : {"https://", "http://"}) {
    if (!text.starts_with(scheme)) continue;
    address.tls = scheme == "https://";
    address.rest = text.substr(scheme.size());
  }
  address.host = address.rest.substr(0, address.rest.find_first_of(":/?"));
  // The proxy goes to port 443; a provider elsewhere is reached by its own words.
  if (address.rest.substr(address.host.size()).starts_with(":")) address.tls = false;
  return address;
}

/// Why a key has to go inside as it is.
std::string WhyPassed(const Profile& profile, const ApiKey& key, const network::Wanted& network,
                      const Address& address) {
  if (!network.proxied()) return "without igloo's proxy nobody else could put it into requests";
  if (!key.can_be_placed()) {
    return std::string(profile.title) + " cannot be told to send requests through igloo's proxy";
  }
  if (!address.tls) return "'" + std::string(key.address_variable) + "' names a place without TLS";
  return std::string(profile.title) + " takes another address only with settings in ~/" +
         std::string(key.needs);
}

}  // namespace

KeyPlan PlanKeys(const Profile& profile, const network::Wanted& network,
                 const std::vector<config::SecretConfig>& named, const Lookup& lookup,
                 const std::function<bool(std::string_view path)>& in_home) {
  KeyPlan plan;
  for (const ApiKey& key : profile.keys) {
    const std::string variable(key.variable);
    const auto value = lookup(variable);
    const std::string inside = key.inside.empty() ? variable : std::string(key.inside);
    const bool taken = std::ranges::any_of(named, [&](const config::SecretConfig& each) {
      return each.inside == variable || each.inside == inside;
    });
    if (!value || value->empty() || taken) continue;
    if (!key.sign_in.empty() && in_home(key.sign_in)) {
      plan.remarks.push_back(variable + " is not inside: the sign-in in ~/" +
                             std::string(key.sign_in) + " counts");
      continue;
    }
    const std::string address_variable(key.address_variable);
    const auto own = address_variable.empty() ? std::nullopt : lookup(address_variable);
    const Address address =
        ParseAddress(own.value_or("https://" + std::string(key.host) + std::string(key.path)));
    // SECURITY: without anything that sends the agent to the proxy in the clear, its own TLS would
    // carry the placeholder past igloo-proxy.
    const bool follows = key.can_be_placed() && (key.needs.empty() || in_home(key.needs));
    if (!network.proxied() || !follows || !address.tls) {
      plan.passed.push_back(variable);
      plan.remarks.push_back(variable +
                             " is inside as it is: " + WhyPassed(profile, key, network, address));
      continue;
    }
    plan.secrets.push_back({.name = variable,
                            .inside = inside,
                            .source = {config::SecretSource::Kind::kVariable, variable},
                            .hosts = {address.host},
                            .header = std::string(key.header)});
    const std::string at_proxy = config::AddressAtProxy(address.rest);
    if (!address_variable.empty()) plan.variables[address_variable] = at_proxy;
    if (!key.file.path.empty()) {
      std::string text(key.file.text);
      network::ReplaceAll(text, "{address}", at_proxy);
      plan.files.push_back({std::string(key.file.path), std::move(text)});
    }
  }
  return plan;
}

}  // namespace igloo::agent
