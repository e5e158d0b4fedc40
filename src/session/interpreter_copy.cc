// Forks of sessions: one interpreter becomes a copy of another.

#include "base/scope_exit.h"
#include "session/aside.h"
#include "session/interpreter_state.h"
#include "session/transplant.h"

namespace igloo::session {

namespace asio = boost::asio;
using Clock = std::chrono::steady_clock;

namespace {

constexpr auto kStandInLimit = std::chrono::seconds(10);

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
  state->wants_stand_in = true;
  state->Send(EncodeOrder(kStandIn, 0, {}, "-"));
  const ScopeExit stand_down([state] {
    state->wants_stand_in = false;
    state->Send(EncodeOrder(kStandDown, 0, {}, "-"));
  });
  auto stands = [state] { return state->stand_in || state->ended || state->failure; };
  co_await state->Wait(stands, Clock::now() + kStandInLimit);
  if (!state->stand_in) {
    co_return Fail(Errc::kTimeout, "the session's interpreter does not let itself be forked",
                   "begin another session and run the same code there");
  }
  if (*state->stand_in == 0) {
    co_return Fail(Errc::kFailedPrecondition,
                   "the session has no room for the one more process that a fork needs",
                   "let its code end some of its processes first");
  }
  Inmate original{.init = Duplicate(state->box->sandbox().init_pidfd()), .inner = *state->stand_in};
  Inmate copy{.init = Duplicate(other->box->sandbox().init_pidfd()), .inner = other->pid};
  auto work = [original = std::move(original), copy = std::move(copy)] {
    return Transplant(original, copy);
  };
  const Result<void> copied = co_await Aside(state->loop, std::move(work));
  if (copied) {
    // What it says about lines of earlier calls stays true.
    other->last_id = state->last_id;
    other->Send(EncodeOrder(kCopied, 0, {}, "-"));
  }
  co_return copied;
}

}  // namespace igloo::session
