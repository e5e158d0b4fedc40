#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <memory>
#include <optional>
#include <string>

#include "agent/explain.h"
#include "agent/learned.h"
#include "agent/refusals.h"
#include "base/log.h"
#include "cli/agent/launch.h"
#include "session/run.h"

namespace igloo::cli {

/// Hears what a box is refused, keeps it where `igloo agent why` reads it, and with --learn writes
/// down what the box used.
class BoxWatch {
 public:
  /// Where the profile of --learn goes: `named`, or a place in igloo's state directory. Fails if
  /// the place is in the project, where code in the box could have put a link there.
  static Result<std::string> LearnedPlace(const std::string& named, const std::string& box,
                                          const std::string& project);

  /// `prepared` outlives it. `learned`: where a profile goes; empty: nowhere.
  BoxWatch(const PreparedBox& prepared, agent::BoxRefusals about, std::string learned,
           Log::Line say);

  /// Has the run tell it what happens, before that starts.
  void Attend(session::RunIo& io);
  /// Begins to write on the run's loop; to be owned by the run (RunIo::beside) alone, since what
  /// waits on the loop goes with it.
  std::function<void(boost::asio::io_context&)> Beside();
  /// Says where things are.
  void Finish();

 private:
  void Take(const network::Record& record);
  void Take(const wire::Seen& seen);
  void Changed();
  void Write();

  agent::BoxPlaces places_;
  agent::BoxRefusals refusals_;
  std::string learned_place_, agent_;
  agent::Learned learned_;
  Log::Line say_;
  std::optional<agent::RefusalStore> store_ = {};
  std::unique_ptr<boost::asio::steady_timer> timer_ = {};
  bool waits_ = false;  ///< for the next time to write
};

}  // namespace igloo::cli
