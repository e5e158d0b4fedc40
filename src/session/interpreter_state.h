#pragma once

#include <array>

#include "session/asio.h"
#include "session/box.h"
#include "session/driver_channel.h"
#include "session/files/set_id_files.h"
#include "session/fork/copier.h"
#include "session/interpreter.h"
#include "session/interpreter_life.h"
#include "session/output_pump.h"

namespace igloo::session {

/// A child of an interpreter's that holds still to be copied.
struct StandIn {
  std::optional<int> pid = {};  ///< once the driver has answered; 0: there can be no child
};

/// A copy that is being made, as its igloo-copy tells it.
struct Copying {
  /// What it says of a fork: each once, and in this order.
  enum class Step { kNothing, kExpects, kHolds, kGoesOn, kComplete };
  std::unique_ptr<Copier> copier = {};  ///< none: it has ended
  Step step = Step::kNothing;
  std::string_view expected = {};  ///< how the child is to be made
  int held = 0;                    ///< the number of the child in the sandbox
  /// The original has answered, or will not: there will be no child if there is none.
  bool answered = false;
  std::optional<Error> lost = {};  ///< why it failed

  bool over() const { return copier == nullptr; }
  bool goes_on() const { return step >= Step::kGoesOn; }
};

/// For the files that Interpreter is made of.
struct Interpreter::State : std::enable_shared_from_this<Interpreter::State> {
  using Clock = std::chrono::steady_clock;

  /// Its two streams: taken with an answer, and watched only when that takes long. A small call is
  /// not worth it, nor is the time until the next one.
  struct Output {
    std::array<OutputPump, 2> pumps;
    boost::asio::steady_timer soon;  ///< to watch them unless another small call has begun
    bool soon_set = false;
    Clock::time_point small_until = {};  ///< the last call counts as small

    /// Takes everything that lies in the pipes.
    void Settle() {
      for (OutputPump& each : pumps) each.Take();
    }
    void Rest() {
      for (OutputPump& each : pumps) each.Rest();
    }
    bool TooMuch() const { return pumps[0].too_much() || pumps[1].too_much(); }
  };

  /// Why the code of a call was asked to stop.
  enum class Stop { kNo, kAsked, kTimeOut };

  /// The call under way, from its order to its end.
  struct CallUnderWay {
    std::function<void(std::string_view)> heard = {};
    std::vector<Part> parts = {};
    std::size_t part_bytes = 0;
    std::optional<said::Done> done = {};
  };

  State(boost::asio::io_context& l, const sandbox::Plan& p, backend::Backend& b,
        InterpreterOptions o)
      : loop(l),
        plan(p),
        options(std::move(o)),
        box(std::make_shared<Box>(
            l, p, b,
            Box::Events{
                .reported = [this](const wire::Report& r) { Take(r); },
                .built = {},
                .failed = [this](Error error, bool gone) { Lose(std::move(error), gone); }})),
        driver(std::make_shared<DriverChannel>(
            l, [this](Result<Said> came) { return Hear(std::move(came)); })),
        output{.pumps = {OutputPump(l, PumpOptions()), OutputPump(l, PumpOptions())},
               .soon = boost::asio::steady_timer(l)},
        changed(l) {}

  /// `checkpoint`: a file to restore from, or -1.
  Result<void> Start(int checkpoint);
  boost::asio::awaitable<Result<void>> WaitUntilReady();
  /// Another interpreter in the place of one that has ended.
  boost::asio::awaitable<bool> Again();
  /// Waits until `condition` holds, or there is no use in waiting: a failure, or the time.
  boost::asio::awaitable<void> Wait(std::function<bool()> condition, Clock::time_point until);
  /// Until no memory of its is on its way to a copy.
  boost::asio::awaitable<void> WaitUntilWhole();
  /// Waits for the report of an interpreter that is being killed.
  boost::asio::awaitable<void> AwaitKilled();

  // A call, in this order.
  boost::asio::awaitable<Result<void>> Prepare();
  void Begin(Call call);
  boost::asio::awaitable<void> AwaitEnd(std::uint64_t time_ms);
  CallResult Finish(CallUnderWay over, std::int64_t began);
  /// Between calls.
  void LookAfter();

  /// Takes output as it comes.
  void WatchOutput();
  boost::asio::awaitable<void> WatchOutput(std::size_t index);
  /// The same soon, if no call has begun by then.
  void WatchOutputSoon();
  OutputPump::Options PumpOptions();

  void Take(const wire::Report& came);
  /// False when it said what it may not, or all is lost.
  bool Hear(Result<Said> came);
  void Take(Said said);
  /// Said about no call that is under way: somebody else's, or a lie. A few are borne.
  void TakeIdle(std::size_t bytes);
  void FailWith(Error error);
  /// The sandbox itself is gone; `vanished`: without a word.
  void Lose(Error error, bool vanished);
  /// Whether a cgroup has to be looked at: the kernel does not end the rest of a sandbox that lost
  /// a process to its limit.
  bool Looks() const { return options.group.has_value(); }
  void EndIfOverMemory();
  void CloseAll();

  /// The number of a child of the interpreter's that waits to be copied. `order`: kStandIn with a
  /// flag, or kMakeCheckpoint with a text.
  boost::asio::awaitable<Result<int>> MakeStandIn(std::string_view order, std::string_view text,
                                                  std::string_view flags);
  void EndStandIn();
  /// Follows an igloo-copy that makes `other` a copy of this one, to its end.
  boost::asio::awaitable<void> Lend(std::shared_ptr<State> other, std::shared_ptr<Copying> copying);
  void Spoil(State& copy, const Error& why);
  /// When igloo-copy has ended and nothing is to be heard of its child any more.
  void EndLending(State& other, const Copying& copying);

  boost::asio::io_context& loop;
  const sandbox::Plan& plan;
  InterpreterOptions options;
  SetIdCheck set_id{plan};
  std::shared_ptr<Box> box;               // shared with the coroutines that watch it
  std::shared_ptr<DriverChannel> driver;  // likewise
  Output output;
  /// Cancelled whenever something that is waited for may have come.
  boost::asio::steady_timer changed;

  InterpreterLife life = {};
  MemorySharing sharing = {};
  std::optional<CallUnderWay> under_way = {};
  Stop stop = Stop::kNo;          ///< of the last call; it may be asked before that is under way
  std::uint64_t last_id = 0;      ///< of a call
  std::uint64_t first_id = 0;     ///< of this interpreter; there may have been others before it
  int pid = 0;                    ///< in the sandbox; 0: none
  std::uint64_t idle_words = 0;   ///< bytes said about no call that is under way
  Clock::time_point looked = {};  ///< at the memory of its cgroup
  std::optional<Loss> loss = {};  ///< to be told with the next call
  std::optional<StandIn> stand_in = {};  ///< none: the driver was not asked for one
};

}  // namespace igloo::session
