#pragma once

#include <map>
#include <string>
#include <vector>

#include "agent/box.h"
#include "config/config.h"

namespace igloo::agent {

/// How the keys of a profile's providers get into a box.
struct KeyPlan {
  std::vector<config::SecretConfig> secrets = {};  ///< placeholders inside, values in igloo-proxy
  std::map<std::string, std::string> variables = {};  ///< that say where the provider is
  std::vector<File> files = {};                       ///< likewise
  std::vector<std::string> passed = {};               ///< names whose values go in as they are
  std::vector<std::string> remarks = {};              ///< for the launch summary
};

/// A key that the caller has set is a secret where igloo-proxy can put it into requests: with a
/// network through the proxy, and a provider that speaks TLS. Otherwise it goes in as it is, and
/// the summary says so. One that the configuration or the command line names already is left alone,
/// and one that the agent does not use does not get in. `in_home`: whether a file is there.
KeyPlan PlanKeys(const Profile& profile, const network::Wanted& network,
                 const std::vector<config::SecretConfig>& named, const Lookup& lookup,
                 const std::function<bool(std::string_view path)>& in_home);

}  // namespace igloo::agent
