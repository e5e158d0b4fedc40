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
  /// `prepared` outlives it. `learn`: the file of --learn, an empty one for igloo's own place; says
  /// that the box is slower. Fails if the file is in the project, where code in the box could have
  /// put a link there.
  static Result<std::unique_ptr<BoxWatch>> Make(const PreparedBox& prepared,
                                                const std::string& name, const agent::BoxInfo& info,
                                                const std::optional<std::string>& learn,
                                                Log::Line say);

  /// Has the run tell it what happens, before that starts.
  void Attend(session::RunIo& io);
  void Take(agent::Refusal refusal);
  /// Begins to write on the run's loop; to be owned by the run (RunIo::beside) alone, since what
  /// waits on the loop goes with it.
  std::function<void(boost::asio::io_context&)> Beside();
  /// Says where things are.
  void Finish();

 private:
  BoxWatch(const PreparedBox& prepared, agent::BoxRefusals about, std::string learned,
           Log::Line say);
  void Take(const network::Record& record);
  void Take(const wire::Seen& seen);
  void Changed();
  void Write();

  agent::BoxPlaces places_;
  agent::BoxRefusals refusals_;
  std::string learned_place_;  ///< empty: nothing is learned
  std::string agent_;
  agent::Learned learned_;
  Log::Line say_;
  std::optional<agent::RefusalStore> store_ = {};
  std::unique_ptr<boost::asio::steady_timer> timer_ = {};
  bool waits_ = false;  ///< for the next time to write
};

}  // namespace igloo::cli
