#pragma once

#include <array>

#include "session/asio.h"
#include "session/box.h"
#include "session/files/set_id_files.h"
#include "session/fork/copier.h"
#include "session/interpreter.h"
#include "session/output_pump.h"

namespace igloo::session {

/// A copy that is being made, and what its igloo-copy has said so far.
struct Copying {
  std::unique_ptr<Copier> copier;
  /// The original has answered, or will not: there will be no child if there is none.
  bool answered = false;
  int held = 0;                    ///< the number of the child in the sandbox
  std::optional<Error> lost = {};  ///< why it failed
  bool over = false;               ///< igloo-copy has ended
};

/// For the files that Interpreter is made of.
struct Interpreter::State : std::enable_shared_from_this<Interpreter::State> {
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
        answers(l),
        orders(l),
        pumps{OutputPump(l, PumpOptions()), OutputPump(l, PumpOptions())},
        changed(l),
        soon(l) {}

  /// `checkpoint`: a file to restore from, or -1.
  Result<void> Start(int checkpoint);
  boost::asio::awaitable<Result<void>> WaitUntilReady();
  boost::asio::awaitable<void> WatchDriver();
  /// Takes what the driver has said, if anything; whether it is worth listening to.
  bool Listen();
  /// Whatever one that has ended said last.
  void Forget();
  bool TakeFrames();
  /// Takes output as it comes.
  void WatchOutput();
  boost::asio::awaitable<void> WatchOutput(std::size_t index);
  /// The same soon, if no call has begun by then: small ones are not worth it.
  void WatchOutputSoon();
  /// Between calls.
  void LookAfter();
  /// Sends, now if that can be.
  void Send(std::string_view bytes);
  boost::asio::awaitable<void> SendLater(std::string bytes);
  boost::asio::awaitable<void> SendAll(std::string_view bytes);
  /// Waits until `condition` holds, or there is no use in waiting: a failure, or the time.
  boost::asio::awaitable<void> Wait(std::function<bool()> condition,
                                    std::chrono::steady_clock::time_point until);
  boost::asio::awaitable<bool> Again();
  boost::asio::awaitable<void> AwaitEnd(const Call& call);
  /// Takes everything that lies in the pipes.
  void Settle();
  OutputPump::Options PumpOptions();
  void Take(const wire::Report& came);
  void Take(Said said);
  /// Said about no call that is under way: somebody else's, or a lie. A few are borne.
  void TakeIdle(std::size_t bytes);
  void FailWith(Error error);
  /// The sandbox itself is gone; `vanished`: without a word.
  void Lose(Error error, bool vanished);
  /// Whether a cgroup has to be looked at: the kernel does not end the rest of a sandbox that lost
  /// a process to its limit.
  bool Looks() const;
  void EndIfOverMemory();
  /// Waits for the report of an interpreter that is being killed.
  boost::asio::awaitable<void> AwaitKilled();
  bool TooMuch() const { return pumps[0].too_much() || pumps[1].too_much(); }
  CallResult Finish(std::int64_t began);
  std::string Order(const Call& call);
  void CloseAll();
  /// A child of the interpreter's that waits to be copied. `order`: kStandIn with a flag, or
  /// kMakeCheckpoint with a text.
  boost::asio::awaitable<Result<void>> MakeStandIn(std::string_view order, std::string_view text,
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
  std::shared_ptr<Box> box;                       // shared with the coroutines that watch it
  boost::asio::posix::stream_descriptor answers;  ///< of the driver
  boost::asio::posix::stream_descriptor orders;   ///< for it
  unsigned sending = 0;                           ///< orders that wait until it can be written
  std::array<OutputPump, 2> pumps;
  boost::asio::steady_timer
      changed;  ///< cancelled whenever something that is waited for may have come
  boost::asio::steady_timer soon;  ///< to watch the output
  bool soon_set = false;
  std::chrono::steady_clock::time_point small_until = {};  ///< of the last call
  DriverFrames frames = {};
  std::array<char, 16384> room;  ///< for what comes from the driver
  std::uint64_t last_id = 0;
  std::uint64_t first_id = 0;        ///< of this interpreter; there may have been others before it
  std::uint64_t generation = 0;      ///< of the interpreter: orders for one are not for the next
  int pid = 0;                       ///< in the sandbox; 0: none
  std::optional<int> stand_in = {};  ///< likewise, once the driver has answered
  bool wants_stand_in = false;
  std::string_view expected = {};  ///< how a child is to be made, once igloo-copy waits for it
  /// A copy of it is still being made, or it is one: see Transplant. Nothing runs in one that lends
  /// its memory, and it does not end before it has.
  bool lending = false, borrowing = false;
  bool copied = false;           ///< it goes on as the other one
  bool kill_later = false;       ///< when it no longer lends
  bool abandoned = false;        ///< likewise: nobody will use it again
  std::uint64_t idle_words = 0;  ///< bytes said about no call that is under way
  bool ready = false;
  bool running = false;   ///< a call is under way
  bool stopping = false;  ///< its code was asked to stop
  bool timed_out = false, out_of_memory = false;
  std::chrono::steady_clock::time_point looked = {};  ///< at the memory of its cgroup
  std::vector<Part> parts = {};
  std::size_t part_bytes = 0;
  std::optional<said::Done> done = {};
  std::optional<wire::Ended> ended = {};  ///< of the interpreter that ended last, until a new one
  std::optional<Loss> loss = {};
  std::function<void(std::string_view)> heard = {};
  std::optional<Error> failure = {};
};

}  // namespace igloo::session
