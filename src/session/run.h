#pragma once

#include <array>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/io_context.hpp>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "backend/backend.h"
#include "base/error.h"
#include "base/log.h"
#include "cgroup/freezer.h"
#include "cgroup/groups.h"
#include "session/network/connection.h"
#include "session/output.h"
#include "session/verdict.h"

namespace igloo::session {

class Run;

struct OwnNetwork {
  network::Wanted wanted = {};
  Proxy::Options proxy = {};
};

/// Where a run's bytes come from and go to.
struct RunIo {
  /// Read to its end and passed on; empty: the program reads end of file at once.
  UniqueFd input = {};
  /// Where output goes as it comes: the caller's standard output and error, say. -1: it is only
  /// captured. When nobody reads any more, the run is ended.
  std::array<int, 2> live = {-1, -1};
  /// Instead of pipes: the program's standard input, output and error are this terminal's inner
  /// end. Whoever holds the other end passes bytes on; `input` and `live` are not used.
  UniqueFd terminal = {};
  /// Hears that the program was stopped at its terminal; Run::Continue() is to follow.
  std::function<void()> stopped = {};
  /// Where the sandbox's memory and processes are counted; without one, igloo-init looks after
  /// them.
  std::optional<cgroup::Lease> group = {};
  std::size_t capture_limit = 8U << 20;  ///< per stream; the rest is counted and dropped
  Keep keep = Keep::kFirst;              ///< what of it, when it is too much
  /// Gets what either stream captures, as it comes.
  std::function<void(std::string_view)> heard = {};
  /// A program that writes more to one stream is ended; 0: it is not.
  std::uint64_t output_limit = 0;
  /// What the plan's network leads to; none: nothing.
  std::shared_ptr<Connection> connection = {};
  /// Instead: a network with an igloo-proxy for this run alone.
  std::optional<OwnNetwork> network = {};
  /// Called once with the run's loop, before anything starts: for what igloo does meanwhile.
  std::function<void(boost::asio::io_context&, Run&)> beside = {};
  /// What of the program `seen` hears of, while it runs. SECURITY: igloo-init says it, so it is a
  /// hostile program's word, and can come without end.
  wire::Watched watched = wire::Watched::kNothing;
  std::function<void(const wire::Seen&)> seen = {};
  /// Hears what igloo had to put right in a read-write project when nobody waits for the result.
  Log::Line note = {};
};

struct RunResult {
  Verdict verdict = Verdict::kOk;
  int exit_code = 0;  ///< as a shell would say it: 128 + n for a signal, 124 for a time-out
  int signal = 0;
  CappedText output{0}, error{0};
  wire::Ended usage = {};
  cgroup::Hits hits = {};  ///< the limits that it ran into, as far as a cgroup tells
  Refusals refused = {};   ///< by its network
  /// What igloo had to put right in a read-write project, a sentence each.
  std::vector<std::string> put_right = {};
  /// Directories that the plan hands out, as the run left them. Nothing inside runs any more.
  std::vector<UniqueFd> handed_out = {};
  backend::Timeline timeline = {};
  std::int64_t reported_micros = 0;  ///< when igloo-init's report came (monotonic clock)
};

/// The code that a waiting program gets.
struct Task {
  std::string code = {};
  std::uint64_t time_ms = 30'000;                    ///< then it is interrupted; 0: never
  std::function<void(std::string_view)> heard = {};  ///< gets its output, as it comes
};

/// One execution: started, watched, ended. Lives on one event loop thread.
class Run {
 public:
  /// `plan` and `backend` outlive the run.
  Run(boost::asio::io_context& loop, const sandbox::Plan& plan, backend::Backend& backend,
      RunIo io);
  ~Run();

  /// Starts the sandbox and waits for its end. Call once.
  boost::asio::awaitable<Result<RunResult>> Execute();

  // Or in two steps, for a plan whose program waits for the file with its code
  // (environment::AwaitedCode).

  /// Starts the sandbox, and waits until its igloo-init runs. Call once, first.
  boost::asio::awaitable<Result<void>> Prepare();
  /// It waits, and nothing of it has ended.
  bool waits() const;
  /// Puts the code in its place, and waits for the end. Call once.
  boost::asio::awaitable<Result<RunResult>> Go(Task task);
  /// No instruction of the program was carried out: another sandbox can do it as well. Of a run
  /// that has failed, and of none that may have begun.
  bool never_began() const;
  /// Directories that the plan hands out, while it waits: their places as in the plan.
  int handed_out(std::size_t index) const;

  /// Starts a program beside the run's own: behind the same wall, with the same variables, on this
  /// terminal. `ended` hears its exit code, or why there is none; it ends with the run.
  void Join(const std::vector<std::string>& argv, UniqueFd terminal,
            std::function<void(Result<int>)> ended);

  /// Stops everything inside until Resume(). It can be ended meanwhile, and nothing can be started
  /// in it. Fails where that cannot be done, and changes nothing then.
  Result<void> Pause(const cgroup::FreezerPlace& place);
  Result<void> Resume();
  /// The limits that it ran into since it began, as far as a cgroup tells.
  cgroup::Hits hits() const;
  /// See cgroup::Leaf::LimitCpusOfRunning.
  Result<void> LimitCpusOfRunning(std::uint64_t millicpus);

  /// Asks the program to stop, as Ctrl-C would.
  void Interrupt();
  /// Lets a program go on that was stopped at its terminal (RunIo::stopped).
  void Continue();
  /// Ends everything inside at once.
  void Kill();
  /// The igloo-proxy of this run alone; null: it has none.
  Proxy* proxy();

 private:
  struct State;
  std::shared_ptr<State> state_;  // shared with the coroutines that watch the run's descriptors
};

}  // namespace igloo::session
