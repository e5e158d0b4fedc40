#include "service/setup.h"

#include <algorithm>
#include <atomic>

namespace igloo::service {
namespace {

std::uint64_t NextNumber() {
  static std::atomic<std::uint64_t> last = 0;
  return ++last;
}

}  // namespace

Rights RightsOf(const sandbox::Policy& policy) {
  Rights rights{.network = !std::holds_alternative<sandbox::NoNetwork>(policy.network)};
  for (const auto* entries : {&policy.environment, &policy.run}) {
    for (const sandbox::Entry& entry : *entries) {
      const auto* tree = std::get_if<sandbox::HostTree>(&entry);
      if (tree != nullptr && tree->access == sandbox::Access::kReadWrite) {
        rights.writable_host = true;
      }
    }
  }
  return rights;
}

std::string ReachOf(const sandbox::Network& network) {
  constexpr std::size_t kMostNamed = 8;
  if (std::holds_alternative<sandbox::HostNetwork>(network)) return "the network of the host";
  const auto* connected = std::get_if<sandbox::ConnectedNetwork>(&network);
  if (connected == nullptr) return "";
  std::string text;
  const auto add = [&](const std::string& word) { text += (text.empty() ? "" : ", ") + word; };
  if (connected->tier == "internet") add("the Internet");
  if (connected->raw_sockets) add("raw sockets");
  const std::size_t named = std::min(connected->rules.size(), kMostNamed);
  for (std::size_t i = 0; i < named; ++i) add(connected->rules[i]);
  if (connected->rules.size() > named) {
    add(std::to_string(connected->rules.size() - named) + " more places");
  }
  if (connected->tier == "allow" && connected->rules.empty()) add("nothing until it is allowed");
  for (const std::uint16_t port : connected->reach) add("127.0.0.1:" + std::to_string(port));
  for (const auto& port : connected->publish) {
    add("port " + std::to_string(port.inside) +
        " published as 127.0.0.1:" + std::to_string(port.outside));
  }
  return text;
}

Setup::Setup(config::Config config, const ReadCatalogue& read, config::Caller caller,
             config::SandboxScan sandboxes)
    : number_(NextNumber()),
      config_(std::move(config)),
      catalogue_(read(config_)),
      lookup_(std::move(caller.variable)),
      secrets_(std::move(caller.secret)),
      sandboxes_(std::move(sandboxes)) {
  for (const environment::Listing& row : catalogue_.List()) Look(row);
}

std::shared_ptr<const Setup> Setup::Nothing() {
  const auto nothing = [](const config::Config& config) {
    return config::Catalogue(config, {.registry = {environment::HostLayout{}, {}}});
  };
  return std::make_shared<Setup>(config::Config{}, nothing, config::Caller{});
}

void Setup::Look(const environment::Listing& row) {
  if (row.unavailable) {
    unusable_.push_back({row.name, *row.unavailable});
    return;
  }
  auto policy = Outline(row.name);
  if (!policy) {
    unusable_.push_back({row.name, std::move(policy).error()});
    return;
  }
  offered_.push_back({.name = row.name,
                      .aliases = row.aliases,
                      .description = row.description,
                      .limits = policy->limits,
                      .rights = RightsOf(*policy),
                      .reaches = ReachOf(policy->network),
                      .network = policy->network});
}

Result<sandbox::Policy> Setup::Outline(std::string_view name) {
  // What is inside is read-only whatever it is, and it takes time to look at. So does a command,
  // and no value is needed to say what can be reached.
  environment::RunRequest request{.what = environment::Code{}};
  IGLOO_ASSIGN(const auto where, catalogue_.Find(name, environment::Depth::kOutline));
  const config::Secrets unread([](const auto&) -> Result<std::string> { return "(unread)"; });
  IGLOO_TRY(config::Complete(config_, where, lookup_, unread, request));
  for (const config::SecretConfig& secret : where.secrets) {
    if (config::Secrets::IsQuick(secret)) {
      IGLOO_TRY(secrets_.Read(secret));
    } else if (std::ranges::find(slow_secrets_, secret.name, &config::SecretConfig::name) ==
               slow_secrets_.end()) {
      slow_secrets_.push_back(secret);
    }
  }
  return environment::PolicyForRun(where.environment, request);
}

bool Setup::AwaitsSecrets(std::string_view environment) const {
  return secrets_.Awaits(config::SecretsFor(config_, environment));
}

const Offered* Setup::Find(std::string_view name) const {
  const auto found = std::ranges::find_if(offered_, [&](const Offered& each) {
    return each.name == name || std::ranges::find(each.aliases, name) != each.aliases.end();
  });
  return found == offered_.end() ? nullptr : &*found;
}

Result<Order> Setup::OrderFor(const Owner& owner, std::string_view environment,
                              environment::RunRequest request, environment::Depth depth) const {
  Order order{.request = std::move(request), .setup = number_};
  IGLOO_ASSIGN(order.where, catalogue_.Find(environment, depth));
  IGLOO_TRY(config::Complete(config_, order.where, lookup_, secrets_, order.request));
  order.request.network.principal = owner.principal;
  return order;
}

}  // namespace igloo::service
