#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "agent/control.h"
#include "base/log.h"
#include "cli/agent/agent_state.h"
#include "session/run.h"

namespace igloo::cli {

/// What igloo does while a box runs: answers those who want in, and keeps sign-ins equal.
/// Owned by the run (RunIo::beside) alone, so that it goes before the loop does.
class Attendance {
 public:
  /// `state` (null: there is none) outlives it. `say` hears what does not work.
  Attendance(std::string socket, AgentState* state, Log::Line say)
      : socket_(std::move(socket)), state_(state), say_(std::move(say)) {}

  void Begin(boost::asio::io_context& loop, session::Run& run);

 private:
  void SyncLater();

  std::string socket_;
  AgentState* state_;
  Log::Line say_;
  std::unique_ptr<agent::BoxControl> control_ = {};
  std::optional<boost::asio::steady_timer> timer_ = {};
};

}  // namespace igloo::cli
