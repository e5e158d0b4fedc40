// Forks of sessions: one interpreter becomes a copy of another.

#include <sys/socket.h>

#include <thread>

#include "base/file.h"
#include "session/interpreter_state.h"
#include "session/transplant.h"

namespace igloo::session {

namespace asio = boost::asio;
using asio::posix::stream_descriptor;
using Clock = std::chrono::steady_clock;

namespace {

constexpr auto kStandInLimit = std::chrono::seconds(10);

// What the thread says over its socket; an end of file: that it has ended.
constexpr char kExpectsClosed = 'c', kExpectsOpen = 'o', kGoesOn = 'g', kLost = 'l';

Error LostVariables() {
  return {Errc::kFailedPrecondition, "the session has lost its variables",
          "there is nothing to fork: begin another session", 0};
}

/// The thread knows nothing of the event loop, which may end before it does, and owns everything
/// that it uses.
Result<UniqueFd> StartTransplant(Inmate original, Inmate copy, std::shared_ptr<Copying> copying) {
  IGLOO_ASSIGN(FdPair pair, MakeSocketPair(SOCK_STREAM));
  auto work = [original = std::move(original), copy = std::move(copy), copying,
               end = std::move(pair.second)] {
    const auto say = [&end](char word) { (void)::send(end.get(), &word, 1, MSG_NOSIGNAL); };
    const Progress progress{
        .expects =
            [&](std::string_view how) { say(how == kClosed ? kExpectsClosed : kExpectsOpen); },
        .answered = [&] { return copying->answered.load(); },
        .holds = [&](pid_t inner) { copying->held = inner; },
        .goes_on = [&] { say(kGoesOn); },
        .lost =
            [&](const Error& error) {
              copying->lost = error;
              say(kLost);
            }};
    auto copied = Transplant(original, copy, progress);
    if (!copied && !copying->lost) progress.lost(copied.error());
  };
  try {
    std::thread(std::move(work)).detach();
  } catch (const std::system_error& error) {
    return FailSys(error.code().value(), "cannot start a thread");
  }
  return std::move(pair.first);
}

}  // namespace

asio::awaitable<Result<void>> Interpreter::State::MakeStandIn(std::string_view how) {
  stand_in.reset();
  wants_stand_in = true;
  Send(EncodeOrder(kStandIn, 0, {}, how));
  auto stands = [this] { return stand_in || ended || failure; };
  co_await Wait(stands, Clock::now() + kStandInLimit);
  if (!stand_in) {
    co_return Fail(Errc::kTimeout, "the session's interpreter does not let itself be forked",
                   "begin another session and run the same code there");
  }
  if (*stand_in == 0) {
    co_return Fail(Errc::kFailedPrecondition,
                   "the session has no room for the one more process that a fork needs",
                   "let its code end some of its processes first");
  }
  co_return Result<void>();
}

void Interpreter::State::EndStandIn() {
  wants_stand_in = false;
  Send(EncodeOrder(kStandDown, 0, {}, "-"));
}

/// Until the copy has everything. Whatever ends one of the two meanwhile, the other is told.
asio::awaitable<void> Interpreter::State::Lend(std::shared_ptr<State> other, UniqueFd words,
                                               std::shared_ptr<Copying> copying) {
  const auto self = shared_from_this();
  stream_descriptor from(loop, words.Release());
  for (;;) {
    char word = 0;
    boost::system::error_code error;
    auto token = Redirect(error);
    const auto space = asio::buffer(&word, 1);
    co_await from.async_read_some(space, token);
    if (error) break;
    if (word == kGoesOn) {
      other->copied = true;
    } else if (word == kLost) {
      other->FailWith(*copying->lost);
      other->box->sandbox().Kill();
    } else {
      expected = word == kExpectsClosed ? kClosed : kOpen;
    }
    changed.cancel();
  }
  copying->over = true;
  EndLending(*other, *copying);
  changed.cancel();
}

void Interpreter::State::EndLending(State& other, const Copying& copying) {
  if (!copying.over || !copying.answered) return;
  lending = other.borrowing = false;
  EndStandIn();
  if (kill_later) box->Tell(wire::ToInit::kKill);
  if (abandoned) CloseAll();
  changed.cancel();
  other.changed.cancel();
}

asio::awaitable<Result<void>> Interpreter::CopyTo(Interpreter& fresh) {
  const std::shared_ptr<State> state = state_;
  const std::shared_ptr<State> other = fresh.state_;
  // One that is a copy itself and lacks something still, or is being copied, cannot hold still.
  auto whole = [state] { return !state->lending && !state->borrowing; };
  co_await state->Wait(whole, Clock::time_point::max());
  if (state->failure) co_return std::unexpected(*state->failure);
  if (state->ended) co_return std::unexpected(LostVariables());
  Inmate original{.init = Duplicate(state->box->sandbox().init_pidfd()), .inner = state->pid};
  Inmate copy{.init = Duplicate(other->box->sandbox().init_pidfd()), .inner = other->pid};
  const auto copying = std::make_shared<Copying>();  // the thread's and ours
  auto words = StartTransplant(std::move(original), std::move(copy), copying);
  if (!words) co_return std::unexpected(std::move(words).error());
  state->lending = other->borrowing = true;
  state->expected = {};
  asio::co_spawn(state->loop, state->Lend(other, *std::move(words), copying), asio::detached);
  auto expected = [state, copying] { return !state->expected.empty() || copying->over; };
  co_await state->Wait(expected, Clock::time_point::max());
  Result<void> stands;
  if (!copying->over && !state->failure) stands = co_await state->MakeStandIn(state->expected);
  copying->answered = true;
  state->EndLending(*other, *copying);
  auto known = [other, copying] { return other->copied || copying->over; };
  co_await state->Wait(known, Clock::time_point::max());
  if (!stands) co_return stands;
  // The thread's own words come first: what else is heard of the copy follows from them.
  if (copying->over && copying->lost) co_return std::unexpected(*copying->lost);
  if (other->failure) co_return std::unexpected(*other->failure);
  if (!other->copied) co_return std::unexpected(state->failure.value_or(LostVariables()));
  if (copying->held != *state->stand_in) {
    Error other_child = {Errc::kFailedPrecondition,
                         "the session's own code forked at the same time",
                         "begin another session and run the same code there", 0};
    other->FailWith(other_child);
    co_return std::unexpected(std::move(other_child));
  }
  // What it says about lines of earlier calls stays true.
  other->last_id = state->last_id;
  other->Send(EncodeOrder(kCopied, 0, {}, "-"));
  co_return Result<void>();
}

}  // namespace igloo::session
