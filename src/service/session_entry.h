#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/cancellation.h"
#include "service/sessions.h"
#include "service/turns.h"

namespace igloo::service {

/// One session. For the files that Sessions is made of.
struct Sessions::Entry {
  Entry(boost::asio::io_context& loop, std::string of, SessionLimits its, Clock::time_point now)
      : environment(std::move(of)), limits(its), turns(loop, 1), born(now), used(now) {}

  std::string environment;
  std::string interpreter = {};
  sandbox::Network network = {};  ///< that it was made with
  SessionLimits limits;
  std::unique_ptr<SessionInterpreter> inside = {};
  std::shared_ptr<Entry> parent = {};  ///< until it has become a copy of that one
  bool started = false;                ///< or being started
  bool ready = false;                  ///< and it has a workspace
  bool ended = false;                  ///< by End; who waits for a turn finds out
  Turns turns;
  Cancellation stop = {};  ///< of the call whose turn it is, or of the next one
  session::Stamps stamps = {};
  std::uint64_t usual_time_ms = 0;
  Clock::time_point born, used;

  bool busy() const { return turns.taken() > 0 || turns.waiting() > 0; }
};

}  // namespace igloo::service
