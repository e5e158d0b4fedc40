#pragma once

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "session/asio.h"
#include "session/box.h"
#include "session/files/set_id_files.h"
#include "session/input_feed.h"
#include "session/output_pump.h"
#include "session/run.h"

namespace igloo::session {

/// How many directories a plan hands out.
inline std::size_t CountHandedOut(const sandbox::Plan& plan) {
  return static_cast<std::size_t>(std::ranges::count_if(plan.run, [](const sandbox::Step& each) {
    return std::holds_alternative<sandbox::step::HandOut>(each);
  }));
}

/// For the files that Run is made of.
/// Everything the watching coroutines share. They end on their own once descriptors close.
struct Run::State : std::enable_shared_from_this<Run::State> {
  State(boost::asio::io_context& l, const sandbox::Plan& p, backend::Backend& b, RunIo run_io)
      : loop(l),
        plan(p),
        io(std::move(run_io)),
        box(std::make_shared<Box>(
            l, p, b,
            Box::Events{.reported = [this](const wire::Report& r) { Take(r); },
                        .built =
                            [this] {
                              built = true;
                              changed.cancel();
                              for (const auto& each : std::exchange(once_built, {})) each();
                            },
                        .failed =
                            [this](Error error, bool gone) {
                              vanished = gone && !failure && !report;
                              FailWith(std::move(error));
                            }})),
        feed(l),
        pumps{OutputPump(l, PumpOptions(0)), OutputPump(l, PumpOptions(1))},
        changed(l),
        time_ms(p.payload.time_ms),
        making_ms(b.MakingMs()) {
    if (!io.network || !io.network->wanted.connected()) return;
    proxy = std::make_unique<Proxy>(l, std::move(io.network->proxy));
    io.connection = std::make_shared<Connection>(l, *proxy, std::move(io.network->wanted));
  }

  Result<void> Start();
  /// Begins to hear what comes of it.
  void Watch();
  boost::asio::awaitable<void> WaitUntilBuilt();
  /// Where the code of a program that waits goes, or -1.
  int CodeDirectory() const;
  Result<void> PlaceCode(const Task& task);
  boost::asio::awaitable<Result<RunResult>> End();
  Result<void> UsePipes(backend::Channels& channels);
  Result<void> UseTerminal(backend::Channels& channels);
  boost::asio::awaitable<void> WatchOutput(std::size_t index);
  OutputPump::Options PumpOptions(std::size_t index);
  boost::asio::awaitable<void> FeedInput();
  boost::asio::awaitable<void> WaitForEnd();
  /// Hears the end of everything that its connections had under way.
  boost::asio::awaitable<void> EndNetwork();
  /// A sandbox that lost one process to its memory limit is ended: the rest of it waits in vain.
  bool LookAfterMemory();
  Result<RunResult> Finish();
  bool MustCheckProject() const { return set_id.needed() && box->started(); }
  /// What was done about files that the run left in a project.
  boost::asio::awaitable<std::vector<std::string>> PutProjectRight();
  void CloseAll();
  void Join(const std::vector<std::string>& argv, UniqueFd terminal,
            std::function<void(Result<int>)> ended);
  void EndJoined(const wire::JoinEnded& ended);
  /// Ends everything inside, also what is paused.
  void EndAll() {
    box->Tell(wire::ToInit::kKill);
    if (freezer) (void)freezer->Thaw();
  }

  void Take(const wire::Report& came) {
    if (const auto* ended = std::get_if<wire::JoinEnded>(&came)) return EndJoined(*ended);
    if (std::holds_alternative<wire::Stopped>(came)) {
      // Nobody else would let it go on.
      return io.stopped ? io.stopped() : box->Tell(wire::ToInit::kContinue);
    }
    if (const auto* seen = std::get_if<wire::Seen>(&came)) {
      if (io.seen) io.seen(*seen);
      return;
    }
    report = came;
    reported_micros = MonotonicMicros();
    changed.cancel();
  }
  void FailWith(Error error) {
    if (!failure && !report) failure = std::move(error);
    changed.cancel();
  }
  bool Settled() const { return failure || (report && (open_outputs == 0 || abandoned)); }

  boost::asio::io_context& loop;
  const sandbox::Plan& plan;
  SetIdCheck set_id{plan};
  std::unique_ptr<Proxy> proxy = {};  ///< of this run alone
  RunIo io;
  std::optional<cgroup::Freezer> freezer = {};  ///< once it was paused
  std::shared_ptr<Box> box;                     // shared with the coroutines that watch it
  InputFeed feed;
  std::array<OutputPump, 2> pumps;
  boost::asio::steady_timer changed;  ///< cancelled whenever something the end depends on changed
  int open_outputs = 0;
  std::uint64_t time_ms;    ///< 0: it has no limit
  std::uint64_t making_ms;  ///< until it is built, if that is no part of the time
  bool built = false;       ///< its igloo-init runs
  bool waiting = false;     ///< for its code, and nothing of that has run
  bool abandoned = false;   ///< the caller wants an end, not the rest of the output
  bool out_of_memory = false;
  bool vanished = false;  ///< ended without a report
  std::optional<wire::Report> report = {};
  std::int64_t reported_micros = 0;
  std::optional<Error> failure = {};
  /// A program beside the run's own, and who hears of its end.
  struct Joined {
    std::string program = {};
    std::function<void(Result<int>)> ended = {};
  };
  std::map<std::uint32_t, Joined> joined = {};  ///< by number
  std::uint32_t last_joined = 0;
  std::vector<std::function<void()>> once_built = {};  ///< what came too early
};

}  // namespace igloo::session
