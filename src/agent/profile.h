#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace igloo::agent {

/// A variable with a value that igloo sets.
struct SetVariable {
  std::string_view name = {};
  std::string_view value = {};
  std::string_view reason = {};
};

/// A file that igloo writes for the agent, in memory: in the directory of SANDBOX.md, or in one
/// that no environment has.
struct WrittenFile {
  std::string_view path = {};
  std::string_view text = {};
};

/// A key of a model's provider. The agent gets a placeholder; igloo-proxy puts the value into
/// requests to that host.
struct ApiKey {
  std::string_view variable = {};  ///< of the caller's; inside it holds the placeholder
  /// Instead of it, where the agent would ask whether this key may be used: it does so for each new
  /// one, and a placeholder is always new. `file` says where the key is then.
  std::string_view inside = {};
  std::string_view host = {};
  std::string_view header = {};  ///< the only ones that may hold it, with commas
  /// Which variable tells the agent where the provider is: requests go to the proxy in the clear,
  /// and from there over TLS. A caller who has it set talks to somebody else, who gets the key.
  std::string_view address_variable = {};
  std::string_view path = {};  ///< what the address ends with: "/v1"
  /// A file of settings for it, which may say so, too: "{address}" stands for the address in it.
  WrittenFile file = {};
  /// A file below home without which the agent takes no other address.
  std::string_view needs = {};
  /// A file below home with a sign-in, which the agent uses instead of the key.
  std::string_view sign_in = {};

  bool can_be_placed() const {
    return !address_variable.empty() || file.text.contains("{address}");
  }
};

/// What igloo knows about one coding agent. Data; each has a file of its own in profiles/. In
/// `arguments`, `set` and `files`, "{notice}" stands for the path of SANDBOX.md inside,
/// "{notice-text}" for what it says, "{home}" for the home directory, "{git-name}" and
/// "{git-email}" for who commits.
struct Profile {
  std::string_view name = {};
  std::string_view title = {};    ///< "Claude Code"
  std::string_view program = {};  ///< as one types it
  std::string_view install = {};  ///< how to get it
  /// They stand before the user's own.
  std::span<const std::string_view> arguments = {};
  std::span<const SetVariable> set = {};
  std::span<const WrittenFile> files = {};
  /// Of the caller's, passed on if they are set.
  std::span<const std::string_view> variables = {};
  std::span<const ApiKey> keys = {};
  /// Whose files it keeps below home: a name of FindAgentFiles (agent/state/guarded.h). Empty: none
  /// that igloo knows.
  std::string_view files_of = {};
  /// Directories below home that it shares with the host, to write to.
  std::span<const std::string_view> home = {};
  /// Where it keeps the conversations of all projects, below home; each box has those of its own.
  std::string_view history = {};
  /// What it needs of the network, as rules: what --network allow opens.
  std::span<const std::string_view> domains = {};
  /// Where the administrator of a machine has settings for it: a directory of /etc. They hold
  /// inside as well.
  std::string_view managed = {};
  /// Why they do not, said if there are any.
  std::string_view managed_lacks = {};
  /// Said in the launch summary: what of the agent's own is switched off inside, and why.
  std::string_view remark = {};
};

/// All that igloo brings along.
std::span<const Profile* const> Profiles();
/// nullptr: there is none of this name.
const Profile* FindProfile(std::string_view name);

}  // namespace igloo::agent
