#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "agent/control.h"
#include "agent/registry.h"
#include "base/log.h"
#include "cgroup/groups.h"
#include "cli/agent/agent_state.h"
#include "session/run.h"

namespace igloo::cli {

/// What igloo does while a box runs: answers those who want something of it, keeps sign-ins equal,
/// and writes down which limits it ran into.
/// Owned by the run (RunIo::beside) alone, so that it goes before the loop does.
class Attendance {
 public:
  struct Options {
    std::string socket = {};      ///< BoxRegistry::SocketOf
    AgentState* state = nullptr;  ///< null: there is none
    cgroup::Found groups = {};
    /// Of processors, a limit that is to be set once the box runs; 0: none.
    std::uint64_t later_millicpus = 0;
    Log::Line say = {};  ///< hears what does not work
  };
  /// `place` and the state outlive it.
  Attendance(agent::BoxRegistry::Place& place, Options options)
      : place_(place), options_(std::move(options)) {}

  void Begin(boost::asio::io_context& loop, session::Run& run);

 private:
  void LookLater();
  void Look();
  Result<void> Pause();
  Result<void> Resume();
  void SayOf(const std::string& what, const Result<void>& done) const;

  agent::BoxRegistry::Place& place_;
  Options options_;
  session::Run* run_ = nullptr;
  std::unique_ptr<agent::BoxControl> control_ = {};
  std::optional<boost::asio::steady_timer> timer_ = {};
};

/// The limits of a box that were hit, as words of the registry (BoxInfo::hits).
std::vector<std::string> HitWords(const cgroup::Hits& hits);

}  // namespace igloo::cli
