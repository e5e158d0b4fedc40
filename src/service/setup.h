#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "config/catalogue.h"
#include "config/request.h"
#include "config/sandbox_mcp_scan.h"
#include "language/driver.h"
#include "sandbox/policy.h"

namespace igloo::service {

/// What code in a sandbox can change or reach outside of it. Clients decide by it whether they ask
/// their user, so it is computed from the policy and never written down by hand.
struct Rights {
  bool network = false;
  bool writable_host = false;
  bool harmless() const { return !network && !writable_host; }
  bool operator==(const Rights&) const = default;
};
Rights RightsOf(const sandbox::Policy& policy);
/// The network that a policy gives, in a few words.
std::string ReachOf(const sandbox::Network& network);

/// An environment that can be used, as clients are told about it.
struct Offered {
  std::string name = {};
  std::vector<std::string> aliases = {};
  std::string description = {};
  sandbox::Limits limits = {};
  Rights rights = {};
  std::string reaches = {};  ///< what of the network, for people; empty: nothing
  sandbox::Network network = {};
};

/// One that cannot, and why.
struct Unusable {
  std::string name = {};
  Error why = {};
};

/// Whom a run or a session belongs to: the principal whose token a client of a server presented.
struct Owner {
  std::string principal = {};  ///< its label; empty: there is only one
};

/// A run, before it is planned.
struct Order {
  config::Configured where = {};
  environment::RunRequest request = {};
  /// What makes its environment's interpreter one that takes code again and again; null: it cannot.
  const language::Driver* driver = nullptr;
  std::uint64_t setup = 0;  ///< the number of the Setup that it comes from; 0: from none
};

/// One state of the configuration and of what this machine has for it. Never changes: a reload
/// makes another, and calls under way keep the one that they began with.
class Setup {
 public:
  using ReadCatalogue = std::function<config::Catalogue(const config::Config&)>;

  Setup(config::Config config, const ReadCatalogue& read, config::Caller caller,
        config::SandboxScan sandboxes = {});
  Setup(const Setup&) = delete;
  /// One that offers nothing.
  static std::shared_ptr<const Setup> Nothing();

  const config::Config& config() const { return config_; }
  const config::Catalogue& catalogue() const { return catalogue_; }
  /// The user's sandboxes in sandbox-mcp's form, for contracts that serve them.
  const config::SandboxScan& sandboxes() const { return sandboxes_; }
  const std::vector<Offered>& offered() const { return offered_; }
  const std::vector<Unusable>& unusable() const { return unusable_; }

  /// The environment with this name or alias, among those that can be used; null if there is none.
  const Offered* Find(std::string_view name) const;

  /// The secrets that commands print: this reads them with their first use, which may take long,
  /// unless somebody else does it and says so.
  const std::vector<config::SecretConfig>& slow_secrets() const { return slow_secrets_; }
  const config::Secrets& secrets() const { return secrets_; }
  /// Whether runs in this environment have to wait for somebody who reads its secrets.
  bool AwaitsSecrets(std::string_view environment) const;

  /// `request` of `owner` in the environment of this name or alias, with everything that the
  /// configuration says about its runs. SECURITY: every order is made here, and cannot be made
  /// without an owner: sandboxes of two principals must not share an igloo-proxy.
  Result<Order> OrderFor(const Owner& owner, std::string_view environment,
                         environment::RunRequest request,
                         environment::Depth depth = environment::Depth::kWhole) const;

 private:
  void Look(const environment::Listing& row);
  /// What runs in an environment may do, as far as that can be said without waiting.
  Result<sandbox::Policy> Outline(std::string_view name);

  std::uint64_t number_;  ///< no other has it
  config::Config config_;
  config::Catalogue catalogue_;  ///< refers to config_
  config::Lookup lookup_;
  config::Secrets secrets_;
  std::vector<config::SecretConfig> slow_secrets_ = {};
  config::SandboxScan sandboxes_;
  std::vector<Offered> offered_ = {};
  std::vector<Unusable> unusable_ = {};
};

}  // namespace igloo::service
