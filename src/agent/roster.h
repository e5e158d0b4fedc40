#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "agent/profile.h"
#include "base/error.h"
#include "config/config.h"

namespace igloo::agent {

/// All agents of one configuration: those that igloo knows, with what the user adds to them, and
/// the user's own. Its profiles live as long as it does.
class Roster {
 public:
  /// Fails with the first [agents.NAME] that cannot be used.
  static Result<Roster> Make(const config::Config& config);

  /// nullptr: there is none of this name.
  const Profile* Find(std::string_view name) const;
  /// Those that igloo knows first, then the user's own by name.
  const std::vector<const Profile*>& all() const { return all_; }

 private:
  /// What a profile's fields show where the configuration says it.
  struct Added {
    config::AgentConfig text;
    std::vector<std::string_view> arguments = {}, variables = {}, domains = {}, home = {};
    Profile profile = {};
  };
  Result<void> Add(const config::AgentConfig& agent);

  std::vector<std::unique_ptr<Added>> added_ = {};
  std::vector<const Profile*> all_ = {};
};

}  // namespace igloo::agent
