#pragma once

#include <memory>
#include <string>
#include <vector>

#include "agent/box.h"
#include "agent/state/conversations.h"
#include "agent/state/write_back.h"
#include "base/error.h"
#include "base/unique_fd.h"
#include "cli/console.h"

namespace igloo::cli {

/// Where the files of an agent are, if they are not at the usual places.
struct StateChoice {
  std::vector<agent::Place> places = {};  ///< see agent::BoxOrder
  std::string histories = {};             ///< instead of igloo's own; see agent::OpenHistory
  /// The box has the user's own directory for conversations of the project, so that they go on
  /// outside, instead of one of its own.
  bool own_conversations = false;
};

/// Where igloo keeps what boxes have of agents' state.
Result<agent::StateStore> AgentStore();

/// Takes what boxes left that were killed, and says what a person should know.
Result<void> FinishInterruptedBoxes(Console& console);

/// The state of an agent in one box: copies of the user's files, and what comes back of them. What
/// was not finished is finished when this goes.
class AgentState {
 public:
  /// Null: igloo knows no files of this program's. Finishes first what killed boxes left.
  static Result<std::unique_ptr<AgentState>> Begin(const std::string& box,
                                                   const agent::Profile* profile,
                                                   const std::string& home,
                                                   const std::string& project,
                                                   const StateChoice& choice, Console& console);
  ~AgentState();

  /// For a box that is only shown: what it would share, without copying or making anything.
  static void ShowIn(const std::string& home, const StateChoice& choice, agent::Box& box);

  /// Makes the copies the home of the box, and adds the directories that it shares.
  Result<void> AddTo(agent::Box& box) const;
  /// While the box runs: what has to be the same on both sides.
  void Sync();
  /// After its end. Says what a person should know.
  void Finish(Console& console);

 private:
  AgentState(agent::BoxOrder order, agent::BoxState state) noexcept
      : order_(std::move(order)), state_(std::move(state)) {}

  agent::BoxOrder order_;
  agent::BoxState state_;
  std::vector<agent::Mount> mounts_ = {};
  UniqueFd history_lock_ = {}, sessions_lock_ = {};  ///< while they are there, nobody removes these
  std::optional<agent::Conversations> conversations_ = {};
  bool finished_ = false;
};

}  // namespace igloo::cli
