#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "agent/git.h"
#include "agent/git_guards.h"
#include "agent/grants.h"
#include "agent/profile.h"
#include "agent/program.h"
#include "agent/sockets/served_socket.h"
#include "base/error.h"
#include "environment/run_policy.h"
#include "network/wanted.h"

namespace igloo::agent {

/// Who starts a box, as far as the box has something of it.
struct Owner {
  std::string home = {};  ///< real
  std::string user = {};
  std::string state = {};  ///< igloo's own state directory, which no box shows; real
  std::string path = {};   ///< PATH
  /// Where the administrator has settings for agents.
  std::string settings = "/etc";
};

/// Where a variable inside comes from.
enum class Origin {
  kIgloo,    ///< made for the box
  kProfile,  ///< what the agent needs
  kCaller,   ///< the caller's, by a fixed list
  kNamed,    ///< the caller's, because somebody named it
  kFile,     ///< with its value from a file that the caller wrote
  kGranted,  ///< belongs to a grant
};

struct Variable {
  std::string name = {}, value = {};
  Origin origin = Origin::kIgloo;
};

/// A mount that the box has beside its environment, and why.
struct Mount {
  sandbox::Entry entry;
  std::string reason = {};
};

/// A file that igloo writes for the agent, in memory.
struct File {
  std::string path = {}, text = {};
};

/// A grant that the box has, and what of the host it shows.
struct GrantedRight {
  Grant grant;
  std::string shows = {};
};

/// One that it would have if the host had it.
struct MissingRight {
  Grant grant;
  Error why = {};
};

/// A directory of igloo's own on the host that a box writes to. Names of links and mounts that lie
/// in it are made there (FillHome).
struct OwnTree {
  std::string source = {}, target = {}, reason = {};
};

struct Box;
/// What SANDBOX.md says.
using Notice = std::function<std::string(const Box& box)>;

/// What somebody asks of a box.
struct BoxRequest {
  std::string name = {};             ///< of the box
  const Profile* profile = nullptr;  ///< null: `program` alone counts
  std::string program = {};          ///< instead of the profile's
  /// `program` is something else than the agent (a shell, say): the box has the agent's files, and
  /// the agent itself to be started by hand.
  bool beside_agent = false;
  std::vector<std::string> arguments = {};         ///< the user's own
  std::string project = {};                        ///< real path
  std::vector<Variable> set_variables = {};        ///< with values of somebody's files
  std::vector<std::string> extra_variables = {};   ///< names of the caller's
  std::vector<std::string> key_variables = {};     ///< likewise, which the agent has always had
  std::vector<std::string> home_directories = {};  ///< relative to home, to write to
  std::vector<std::string> path_directories = {};  ///< before PATH
  std::vector<std::string> late_directories = {};  ///< behind PATH
  std::vector<OwnTree> own_trees = {};
  std::vector<Mount> mounts = {};  ///< beside all others
  environment::HideRules hide = {};
  /// The agent works on a copy of the project, and this directory of the host's keeps what it
  /// changes (sandbox::OverlayTree::changes); empty: it works on the project itself.
  std::string changes = {};
  /// Likewise for the repository of a linked work tree or a submodule.
  std::string repository_changes = {};
  /// Who commits if the caller's git does not know.
  GitIdentity fallback_identity = {};
  std::vector<File> files = {};  ///< beside the profile's
  std::set<Grant> grants = {};   ///< that it will get, for the notice
  Notice notice = {};            ///< instead of the usual one (agent/notice.h)
  network::Wanted network = {};
};

/// A box, composed: everything that the policy needs, each with its reason, for the launch summary.
struct Box {
  std::string name = {}, title = {};
  const Profile* profile = nullptr;
  std::string project = {};
  std::string changes = {};                                ///< see BoxRequest
  std::optional<environment::Repository> repository = {};  ///< of a copy, if it lies elsewhere
  std::string home = {};
  WorkTree work_tree = {};
  GitIdentity identity = {};   ///< for all repositories
  GitIdentity committer = {};  ///< in this one
  ResolvedProgram program = {};
  std::vector<std::string> argv = {};
  std::vector<Variable> variables = {};
  std::vector<Mount> mounts = {};
  std::vector<OwnTree> own_trees = {};
  std::vector<sandbox::Hidden> hidden = {};  ///< of the project, outside of its repository
  /// The host's directory that is its home; empty: its home is in memory.
  std::string home_source = {};
  std::vector<File> files = {};
  std::set<Grant> grants = {};  ///< that were asked for
  std::vector<GrantedRight> granted = {};
  std::vector<MissingRight> not_granted = {};
  Notice notice = {};                     ///< empty: the usual one
  std::vector<ServedSocket> served = {};  ///< sockets that igloo answers for its code
  std::string git_settings = {};          ///< behind what every box's ~/.gitconfig has
  network::Wanted network = {};
  std::uint64_t memory_bytes = 0, processes = 0, millicpus = 0;
  std::vector<std::string> remarks = {};  ///< for the summary, a sentence each
};

/// The value of one of the caller's variables, if it is set.
using Lookup = std::function<std::optional<std::string>(const std::string& name)>;

/// Composes a box. Reads the host (programs, the work tree) and starts nothing. `environment` is
/// the box's root.
Result<Box> ComposeBox(const BoxRequest& request, const Owner& owner,
                       const environment::Environment& environment, const Lookup& lookup);

/// SANDBOX.md inside.
inline constexpr std::string_view kNoticeName = "SANDBOX.md";
inline constexpr std::string_view kNoticePath = "/run/igloo/SANDBOX.md";

/// The policy of a composed box. `request` has the network, secrets and terminal of the run.
Result<sandbox::Policy> PolicyForBox(const Box& box, const environment::Environment& environment,
                                     environment::RunRequest request);

}  // namespace igloo::agent
