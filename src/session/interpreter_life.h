#pragma once

#include <algorithm>
#include <optional>
#include <utility>

#include "base/error.h"
#include "wire/host.h"

namespace igloo::session {

/// The life of a session's interpreter, and of those that take its place in the same sandbox.
///
///   state \ event | ready    out of memory   ended    renewed     failed
///   --------------+------------------------------------------------------
///   kStarting     | kReady   kEnding         kEnded   -           kGone
///   kReady        | -        kEnding         kEnded   -           kGone
///   kEnding       | -        -               kEnded   -           kGone
///   kEnded        | -        noted           -        kStarting   kGone
///   kGone         | -        -               noted    -           -
///
/// "-": nothing changes. "noted": the state stays, and what is known of the end is more.
class InterpreterLife {
 public:
  enum class State {
    kStarting,  ///< its driver has not said that it is ready
    kReady,     ///< code can run in it, or does
    kEnding,    ///< it ran out of memory, and is being killed for that
    kEnded,     ///< another one may take its place
    kGone,      ///< none can: the sandbox is lost, or not to be trusted any more
  };
  struct Ended {
    wire::Ended how = {};
    bool out_of_memory = false;
  };

  // Events; those that return a bool say whether something changed.
  bool BecomeReady() {
    if (state_ != State::kStarting) return false;
    state_ = State::kReady;
    return true;
  }
  bool RunOutOfMemory() {
    if (state_ == State::kEnded) return !std::exchange(ended_->out_of_memory, true);
    if (state_ == State::kEnding || state_ == State::kGone) return false;
    state_ = State::kEnding;
    return true;
  }
  void End(const wire::Ended& how, bool out_of_memory) {
    if (!ended_) ended_ = Ended{how, out_of_memory || state_ == State::kEnding};
    if (state_ != State::kGone) state_ = State::kEnded;
  }
  /// Only of one that has ended, of which it tells how.
  Ended Renew() {
    state_ = State::kStarting;
    return *std::exchange(ended_, std::nullopt);
  }
  void Fail(Error why) {
    if (!failure_) failure_ = std::move(why);
    state_ = State::kGone;
  }

  State state() const { return state_; }
  /// How the last one ended, if none has taken its place. INVARIANT: there in kEnded.
  const std::optional<Ended>& ended() const { return ended_; }
  /// Why there is no further call. INVARIANT: there in kGone, and only there.
  const std::optional<Error>& failure() const { return failure_; }

 private:
  State state_ = State::kStarting;
  std::optional<Ended> ended_ = {};
  std::optional<Error> failure_ = {};
};

/// Whether the memory of an interpreter is on its way to a copy, or from its original. Nothing runs
/// in one that lends its memory, and it does not end before it has: that is put off.
///
///   state \ event | lend     borrow     end wanted   over
///   --------------+---------------------------------------
///   kAlone        | kLends   kBorrows   at once      -
///   kLends        | -        -          put off      kAlone
///   kBorrows      | -        -          at once      kAlone
class MemorySharing {
 public:
  enum class State { kAlone, kLends, kBorrows };
  enum class End { kNone, kKill, kClose };  ///< the last one that was wanted counts

  void Lend() { state_ = State::kLends; }
  void Borrow() { state_ = State::kBorrows; }
  /// Whether it has to wait until it no longer lends.
  bool PutOff(End end) {
    if (state_ == State::kLends) put_off_ = std::max(put_off_, end);
    return state_ == State::kLends;
  }
  /// What was put off comes now.
  End Finish() {
    state_ = State::kAlone;
    return std::exchange(put_off_, End::kNone);
  }

  State state() const { return state_; }

 private:
  State state_ = State::kAlone;
  End put_off_ = End::kNone;
};

}  // namespace igloo::session
