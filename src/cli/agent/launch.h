#pragma once

#include <memory>
#include <optional>

#include "agent/box.h"
#include "agent/registry.h"
#include "cli/agent/agent_state.h"
#include "cli/agent/box_grants.h"
#include "cli/args.h"
#include "cli/config/configure.h"
#include "cli/console.h"
#include "cli/run/wall.h"
#include "config/catalogue.h"
#include "sandbox/plan.h"
#include "service/changes/change_set.h"
#include "session/run.h"

namespace igloo::cli {

/// What a command line asks for, beside what the options of every box say (kBoxFlags).
struct LaunchRequest {
  const agent::Profile* profile = nullptr;
  std::string program = {};                 ///< instead of the agent itself, beside its files
  std::vector<std::string> arguments = {};  ///< for the agent
  std::string project = {};                 ///< as named; empty: where igloo was started
  std::vector<std::string> variables = {};  ///< names of the caller's
  std::vector<agent::Variable> set_variables = {};
  std::vector<std::string> home = {}, path = {};
  agent::GitIdentity fallback_identity = {};
  bool only_shown = false;  ///< it will not start: nothing is made for it
  bool propose = false;     ///< the agent works on a copy of the project
  /// Keys of providers go in as they are, as they did with the older launchers.
  bool keys_inside = false;
  std::string name = {};  ///< of the box; empty: made from agent and project
  /// Whether another name will do where this one is taken.
  agent::BoxRegistry::Name name_taken = agent::BoxRegistry::Name::kExactly;
  /// What it uses is written down, at this place or an empty one, which is igloo's own.
  std::optional<std::string> learn = {};
  agent::GrantRequest grants = {};
  // What the older launchers have of their own.
  std::vector<std::string> show_hidden = {};  ///< globs
  StateChoice state = {};
  std::vector<std::string> late_path = {};  ///< behind PATH
  std::vector<agent::OwnTree> own_trees = {};
  std::vector<agent::Mount> mounts = {};
  agent::Notice notice = {};
};

/// Who starts boxes.
Result<agent::Owner> ReadOwner();
/// The directory that a box is for: never the home directory or what holds it.
Result<std::string> FindProject(const std::string& named);
/// The user's own configuration; a project's file has no say about boxes.
Result<config::Config> ReadAgentConfig(const ParsedArgs& args, Console& console);

/// A box that could start, with its plan.
struct PreparedBox {
  /// Held until the box is in the registry (BoxRegistry::JoinOrStart); usually nobody's.
  UniqueFd turn = {};
  std::optional<service::changes::OpenChangeSet> changes = {};
  std::unique_ptr<Wall> wall = {};         ///< starts while the rest is read and planned
  std::unique_ptr<AgentState> state = {};  ///< null: igloo knows no files of its agent's
  std::unique_ptr<BoxGrants> grants = {};  ///< null: it has none
  agent::Box box = {};
  sandbox::Plan plan = {};
  config::Configured configured = {};
  network::Wanted network = {};
};

/// Composes and plans. Starts nothing but git, for the caller's identity.
Result<PreparedBox> PrepareBox(const ParsedArgs& args, const LaunchRequest& request,
                               const config::Config& config, Inherit inherit, Console& console);

/// The launch summary, for people (on standard error, as it comes before what the agent prints) and
/// for programs.
struct SummaryWords {
  std::string_view without = {};              ///< a section that is left out
  std::string_view title = {}, instead = {};  ///< a section's title, and what it is called instead
};
std::string SummaryText(const PreparedBox& prepared, bool colours, const SummaryWords& words = {});
std::string SummaryJson(const PreparedBox& prepared);

/// Starts it, on a terminal of its own if igloo has one, and waits for its end: the exit code.
Result<int> RunBox(PreparedBox prepared, const LaunchRequest& request, Console& console);

/// The same, unless a box of this agent runs in the project already: then the agent starts in that
/// one, beside what runs there, on this terminal. Of many at once, one starts the box.
Result<int> RunOrJoin(PreparedBox prepared, const LaunchRequest& request, Console& console);

/// Whether a box gets a terminal of its own.
bool HasTerminal();

/// Whether a person says yes; no answer is one.
bool ReadYes();

/// The directory of the registry.
Result<agent::BoxRegistry> OpenBoxes();

}  // namespace igloo::cli
