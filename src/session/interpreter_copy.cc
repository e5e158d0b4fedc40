// Forks of sessions: one interpreter becomes a copy of another.

#include <fcntl.h>

#include "session/aside.h"
#include "session/interpreter_state.h"
#include "session/transplant.h"

namespace igloo::session {

namespace asio = boost::asio;
using Clock = std::chrono::steady_clock;

namespace {

constexpr auto kStandInLimit = std::chrono::seconds(10);

/// One of its own for the thread that works: the sandbox may be gone before that is done.
UniqueFd InitOf(Box& box) {
  return UniqueFd(::fcntl(box.sandbox().init_pidfd(), F_DUPFD_CLOEXEC, 0));
}

}  // namespace

asio::awaitable<Result<void>> Interpreter::CopyTo(Interpreter& fresh) {
  const std::shared_ptr<State> state = state_;
  const std::shared_ptr<State> other = fresh.state_;
  if (state->failure) co_return std::unexpected(*state->failure);
  if (state->ended) {
    co_return Fail(Errc::kFailedPrecondition, "the session has lost its variables",
                   "there is nothing to fork: begin another session");
  }
  state->stand_in.reset();
  co_await state->Send(std::string(kStandIn));
  auto stands = [state] { return state->stand_in || state->ended; };
  co_await state->Wait(stands, Clock::now() + kStandInLimit);
  if (!state->stand_in) {
    // One that comes too late must not stay.
    co_await state->Send(std::string(kStandDown));
    co_return Fail(Errc::kTimeout, "the session's interpreter does not let itself be forked",
                   "begin another session and run the same code there");
  }
  if (*state->stand_in == 0) {
    co_return Fail(Errc::kFailedPrecondition,
                   "the session has no room for the one more process that a fork needs",
                   "let its code end some of its processes first");
  }
  auto work = [from = InitOf(*state->box), to = InitOf(*other->box), stand_in = *state->stand_in,
               copy = other->pid] { return Transplant({from.get(), stand_in}, {to.get(), copy}); };
  const auto copied = co_await Aside(state->loop, std::move(work));
  co_await state->Send(std::string(kStandDown));
  if (copied) {
    // What it says about lines of earlier calls stays true.
    other->last_id = state->last_id;
    co_await other->Send(std::string(kCopied));
  }
  co_return copied;
}

}  // namespace igloo::session
