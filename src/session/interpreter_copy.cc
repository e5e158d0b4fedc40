// Forks of sessions: one interpreter becomes a copy of another.

#include <unistd.h>

#include <thread>

#include "base/file.h"
#include "session/inside.h"
#include "session/interpreter_state.h"
#include "session/transplant.h"

namespace igloo::session {

namespace asio = boost::asio;
using asio::posix::stream_descriptor;
using Clock = std::chrono::steady_clock;

namespace {

constexpr auto kStandInLimit = std::chrono::seconds(10);

/// On a thread of its own: the bytes of a large session take longer than others can wait. The
/// thread knows nothing of the event loop, which may end before it does.
asio::awaitable<Result<void>> TransplantAside(asio::io_context& loop, pid_t original, pid_t copy) {
  auto pipe = MakePipe();
  if (!pipe) co_return std::unexpected(std::move(pipe).error());
  const auto result = std::make_shared<Result<void>>();
  std::thread([result, original, copy, end = std::move(pipe->second)] {
    *result = Transplant(original, copy);
    (void)!::write(end.get(), "x", 1);
  }).detach();
  stream_descriptor over(loop, pipe->first.Release());
  boost::system::error_code error;
  auto token = asio::redirect_error(asio::use_awaitable, error);
  co_await over.async_wait(stream_descriptor::wait_read, token);
  co_return *result;
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
  state->stand_in = 0;
  co_await state->Send(std::string(kStandIn));
  auto stands = [state] { return state->stand_in != 0 || state->ended; };
  co_await state->Wait(stands, Clock::now() + kStandInLimit);
  if (state->stand_in == 0) {
    co_return Fail(Errc::kTimeout, "the session's interpreter does not let itself be forked",
                   "begin another session and run the same code there");
  }
  const auto original = FindInside(state->box->sandbox().init_pidfd(), state->stand_in);
  const auto copy = FindInside(other->box->sandbox().init_pidfd(), other->pid);
  Result<void> copied;
  if (!original) {
    copied = std::unexpected(original.error());
  } else if (!copy) {
    copied = std::unexpected(copy.error());
  } else {
    copied = co_await TransplantAside(state->loop, *original, *copy);
  }
  co_await state->Send(std::string(kStandDown));
  if (copied) {
    // What it says about lines of earlier calls stays true.
    other->last_id = state->last_id;
    co_await other->Send(std::string(kCopied));
  }
  co_return copied;
}

}  // namespace igloo::session
