#include "network/rules.h"

#include <algorithm>
#include <utility>

#include "base/overloaded.h"
#include "network/path.h"
#include "network/ranges.h"

namespace igloo::network {

namespace {

/// A network as the key of a table.
std::string KeyOf(const Address& first, unsigned prefix) {
  std::string key(first.bytes.begin(), first.bytes.end());
  key += static_cast<char>(first.family);
  key += static_cast<char>(prefix);
  return key;
}

std::string_view WithoutQuery(std::string_view path) { return path.substr(0, path.find('?')); }

bool Suits(const Rule& rule, const Request& request) {
  if (!rule.ports.Contains(request.port)) return false;
  if (!rule.request) return true;
  if (request.way == Request::Way::kTunnel) return false;
  const Scheme scheme = request.way == Request::Way::kHttp ? Scheme::kHttp : Scheme::kHttps;
  if (rule.request->scheme != scheme) return false;
  // SECURITY: a path that two servers read differently suits no rule that speaks of paths.
  const auto path = CanonicalPath(WithoutQuery(request.path));
  return path && rule.request->Matches(request.method, *path);
}

/// "example.com", or with its port where that is not one of the web.
std::string PlaceRule(const Host& host, std::uint16_t port) {
  const bool web = port == kHttpPort || port == kHttpsPort;
  return ToText(host) + (web ? "" : ":" + std::to_string(port));
}

std::string Where(const Host& host, std::uint16_t port) {
  return "'" + ToText(host) + "' port " + std::to_string(port);
}

/// No rule allows it as long as this one is there.
Decision Denied(const Request& request, const Rule& rule) {
  return {.refusal = Where(request.host, request.port) + " is denied: '" + ToText(rule) + "'"};
}

}  // namespace

RuleTable::RuleTable(std::vector<Rule> rules) : rules_(std::move(rules)) {
  for (std::uint32_t i = 0; i < rules_.size(); ++i) {
    std::visit(Overloaded{[&](const Network& network) {
                            networks_[KeyOf(network.first, network.prefix)].push_back(i);
                            prefixes_.emplace(network.first.family, network.prefix);
                          },
                          [&](const Name& name) { names_[name.text()].push_back(i); },
                          [&](const Below& below) { below_[below.name.text()].push_back(i); }},
               rules_[i].place);
  }
}

RuleSet::RuleSet(Tier tier, std::vector<Rule> rules) : tier_(tier) {
  std::vector<Rule> allowed, denied;
  for (Rule& rule : rules) (rule.denies ? denied : allowed).push_back(std::move(rule));
  denied_ = RuleTable(std::move(denied));
  allowed_ = RuleTable(std::move(allowed));
}

Result<RuleSet> RuleSet::Parse(Tier tier, const std::vector<std::string>& rules) {
  std::vector<Rule> parsed;
  parsed.reserve(rules.size());
  for (const std::string& text : rules) {
    IGLOO_ASSIGN(Rule rule, ParseListed(text));
    parsed.push_back(std::move(rule));
  }
  return RuleSet(tier, std::move(parsed));
}

const Rule* RuleTable::FirstOf(const Index& index, std::string_view key,
                               const Request& request) const {
  const auto found = index.find(key);
  if (found == index.end()) return nullptr;
  const auto& candidates = found->second;
  const auto rule =
      std::ranges::find_if(candidates, [&](std::uint32_t i) { return Suits(rules_[i], request); });
  return rule == candidates.end() ? nullptr : &rules_[*rule];
}

const Rule* RuleTable::FindNamed(std::string_view name, const Request& request) const {
  if (const Rule* rule = FirstOf(names_, name, request)) return rule;
  for (std::size_t dot = name.find('.'); dot != std::string_view::npos; dot = name.find('.')) {
    name.remove_prefix(dot + 1);
    if (const Rule* rule = FirstOf(below_, name, request)) return rule;
  }
  return nullptr;
}

const Rule* RuleTable::FindAddress(const Address& address, const Request& request) const {
  for (const auto& [family, prefix] : prefixes_) {
    if (family != address.family) continue;
    const std::string key = KeyOf(Masked(address, prefix), prefix);
    if (const Rule* rule = FirstOf(networks_, key, request)) return rule;
  }
  return nullptr;
}

const Rule* RuleTable::Find(const Request& request) const {
  if (const auto* name = std::get_if<Name>(&request.host)) return FindNamed(name->text(), request);
  return FindAddress(std::get<Address>(request.host), request);
}

bool RuleTable::AsksRequestsTo(const Name& name) const {
  const auto known = names_.find(name.text());
  return known != names_.end() && std::ranges::any_of(known->second, [&](std::uint32_t i) {
           return rules_[i].request.has_value();
         });
}

Decision RuleSet::Refused(const Request& request) const {
  Decision decision;
  decision.remedy = PlaceRule(request.host, request.port);
  if (const auto* address = std::get_if<Address>(&request.host)) {
    if (const auto range = ClosedRange(*address); !range.empty()) {
      decision.refusal = Where(request.host, request.port) + " is " + std::string(range);
      return decision;
    }
  }
  decision.refusal = Where(request.host, request.port) + " is not in the list";
  if (request.way == Request::Way::kTunnel) return decision;
  // Where the list speaks of this place's paths, one more path is the smaller right.
  const Scheme scheme = request.way == Request::Way::kHttp ? Scheme::kHttp : Scheme::kHttps;
  const auto* name = std::get_if<Name>(&request.host);
  if (name == nullptr || !allowed_.AsksRequestsTo(*name)) return decision;
  const auto path = CanonicalPath(WithoutQuery(request.path));
  if (!path) {
    decision.refusal += ": " + path.error().what;
    return decision;
  }
  decision.refusal = request.method + " of '" + *path + "' at " + decision.refusal;
  const std::string port =
      request.port == DefaultPort(scheme) ? "" : ":" + std::to_string(request.port);
  std::string remedy = request.method + " " + std::string(ToText(scheme)) + "://" +
                       ToText(request.host) + port + *path;
  // Not every method and not every length is one of a rule.
  if (ParseRule(remedy)) decision.remedy = std::move(remedy);
  return decision;
}

const Rule* RuleSet::FindDenied(const Request& request) const {
  if (const Rule* rule = denied_.Find(request)) return rule;
  const auto* address = std::get_if<Address>(&request.host);
  if (address == nullptr) return nullptr;
  for (const Address& carried : CarriedAddresses(*address)) {
    if (const Rule* rule = denied_.FindAddress(carried, request)) return rule;
  }
  return nullptr;
}

Decision RuleSet::Decide(const Request& request) const {
  const auto* address = std::get_if<Address>(&request.host);
  if (const Rule* rule = FindDenied(request)) return Denied(request, *rule);
  if (const Rule* rule = allowed_.Find(request)) {
    return {.basis = address != nullptr ? Decision::Basis::kAddress : Decision::Basis::kName,
            .rule = ToText(*rule)};
  }
  const bool open = address == nullptr || ClosedRange(*address).empty();
  if (tier_ == Tier::kInternet && open) return {.basis = Decision::Basis::kTier};
  return Refused(request);
}

Decision RuleSet::DecideAddress(const Address& address, std::uint16_t port) const {
  const Request request{.host = address, .port = port};
  if (const Rule* rule = FindDenied(request)) return Denied(request, *rule);
  if (const Rule* rule = allowed_.FindAddress(address, request)) {
    return {.basis = Decision::Basis::kAddress, .rule = ToText(*rule)};
  }
  if (ClosedRange(address).empty()) return {.basis = Decision::Basis::kTier};
  return Refused(request);
}

}  // namespace igloo::network
