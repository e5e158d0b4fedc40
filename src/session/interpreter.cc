#include "session/interpreter.h"

#include "base/clock.h"
#include "session/interpreter_state.h"
#include "session/warm/checkpoint.h"

namespace igloo::session {

namespace asio = boost::asio;

namespace {

using Clock = std::chrono::steady_clock;
using Life = InterpreterLife::State;

/// A call that takes no longer is not interrupted by its own output.
constexpr auto kSmall = std::chrono::milliseconds(2);
/// Between looks at the memory of one that waits for calls.
constexpr auto kLook = std::chrono::milliseconds(100);
/// Until a new interpreter has made itself a session's, and hears an interrupt, on a busy machine.
constexpr auto kAwake = std::chrono::milliseconds(200);
constexpr auto kNudgeAgain = std::chrono::milliseconds(200);

}  // namespace

asio::awaitable<Result<void>> Interpreter::State::Prepare() {
  if (sharing.state() == MemorySharing::State::kLends) co_await WaitUntilWhole();
  if (life.failure()) co_return std::unexpected(*life.failure());
  // Something in the background may have lost a process to the limit. Not for each of many calls.
  const bool idled = last_id > 0 && !life.ended() && Clock::now() - looked > kLook;
  if (idled && Looks()) EndIfOverMemory();
  if (life.state() == Life::kEnding) co_await AwaitKilled();
  if (life.failure() || (life.ended() && !co_await Again())) {
    co_return std::unexpected(*life.failure());
  }
  if (last_id > 0) {  // before the first one nothing runs that could say more
    output.Settle();
    (void)driver->Listen();  // to what is no word about this call
  }
  co_return Result<void>();
}

void Interpreter::State::Begin(Call call) {
  idle_words = 0;
  under_way.emplace(CallUnderWay{.heard = std::move(call.heard)});
  output.small_until = Clock::now() + kSmall;
  ++last_id;
  driver->Send(EncodeOrder("run", last_id, call.code, call.manner == Manner::kEcho ? "echo" : "-"));
  // What small code prints is taken with its answer: each word would wake this thread for nothing.
  output.Rest();
  // An interpreter that the kernel woke on this processor has run by now.
  (void)driver->Listen();
}

asio::awaitable<void> Interpreter::State::AwaitEnd(std::uint64_t time_ms) {
  auto over = [this] { return under_way->done || life.ended(); };
  auto over_or_stopping = [this, over] { return over() || stop != Stop::kNo; };
  const auto settled = [this, over] { return over() || life.failure(); };
  const auto limit =
      time_ms == 0 ? Clock::time_point::max() : Clock::now() + std::chrono::milliseconds(time_ms);
  co_await Wait(over_or_stopping, std::min(limit, output.small_until));
  if (settled()) co_return;
  WatchOutput();
  co_await Wait(over_or_stopping, limit);
  if (settled()) co_return;
  if (stop == Stop::kNo) stop = Stop::kTimeOut;
  if (last_id == first_id) co_await Wait(over, output.small_until - kSmall + kAwake);
  // More than once: a signal that comes between a fork and an exec is heard by nobody.
  const auto patience = Clock::now() + options.grace;
  while (!settled() && Clock::now() < patience) {
    box->Tell(wire::ToInit::kNudge);
    co_await Wait(over, std::min(patience, Clock::now() + kNudgeAgain));
  }
  if (settled()) co_return;
  box->Tell(wire::ToInit::kKill);
  co_await AwaitKilled();
}

CallResult Interpreter::State::Finish(CallUnderWay over, std::int64_t began) {
  const bool too_much = output.TooMuch(), timed_out = stop == Stop::kTimeOut;
  CallResult result{.output = output.pumps[0].TakeCaptured(),
                    .error = output.pumps[1].TakeCaptured(),
                    .parts = std::move(over.parts),
                    .lost_before = std::exchange(loss, std::nullopt),
                    .wall_micros = MonotonicMicros() - began};
  if (options.connection) result.refused = options.connection->TakeRefusals();
  if (over.done) {
    result.exit_code = timed_out ? 124 : over.done->status;
    result.value = std::move(over.done->value);
    result.verdict = timed_out                ? Verdict::kTimeout
                     : over.done->interrupted ? Verdict::kInterrupted
                     : over.done->status == 0 ? Verdict::kOk
                                              : Verdict::kExit;
    return result;
  }
  const auto& [ended, out_of_memory] = *life.ended();
  const Outside outside{.too_much_output = too_much, .out_of_memory = out_of_memory};
  result.verdict = timed_out ? Verdict::kTimeout : VerdictOf(ended, outside, plan.payload);
  result.exit_code = ExitCodeOf(ended, result.verdict);
  if (ended.kind == wire::EndKind::kSignalled) result.signal = static_cast<int>(ended.status);
  result.lost_now = true;
  result.gone = life.failure().has_value();
  result.cpu_micros = ended.cpu_micros;
  result.peak_kib = ended.peak_kib;
  return result;
}

void Interpreter::State::LookAfter() {
  if (life.ended() || life.failure()) return;
  output.Rest();
  WatchOutputSoon();
}

Interpreter::Interpreter(asio::io_context& loop, const sandbox::Plan& plan,
                         backend::Backend& backend, InterpreterOptions options)
    : state_(std::make_shared<State>(loop, plan, backend, std::move(options))) {}

Interpreter::~Interpreter() {
  if (state_->sharing.PutOff(MemorySharing::End::kClose)) {
    state_->box->Silence();
  } else {
    state_->CloseAll();
  }
}

asio::awaitable<Result<void>> Interpreter::Start() {
  const std::shared_ptr<State> state = state_;
  int checkpoint = -1;
  if (state->options.checkpoint) {
    const auto file = co_await state->options.checkpoint->File(state->options.start_limit);
    if (!file) {
      state->life.Fail(file.error());
      co_return std::unexpected(file.error());
    }
    checkpoint = *file;
  }
  auto started = state->Start(checkpoint);
  state->options.checkpoint.reset();
  if (!started) {
    state->life.Fail(started.error());
    co_return started;
  }
  state->box->Watch();
  state->driver->Watch();
  state->WatchOutput();
  co_return co_await state->WaitUntilReady();
}

asio::awaitable<Result<CallResult>> Interpreter::Execute(Call call) {
  const std::shared_ptr<State> state = state_;
  const InterpreterLife& life = state->life;
  if (life.failure()) co_return std::unexpected(*life.failure());
  const std::int64_t began = MonotonicMicros();
  // Before anything is waited for: an interrupt that comes meanwhile is meant for this call.
  state->stop = State::Stop::kNo;
  if (auto ready = co_await state->Prepare(); !ready) {
    co_return std::unexpected(std::move(ready).error());
  }
  CappedText late_output = state->output.pumps[0].TakeCaptured();
  CappedText late_error = state->output.pumps[1].TakeCaptured();
  const std::uint64_t time_ms = call.time_ms;
  state->Begin(std::move(call));
  auto& done = state->under_way->done;
  if (!done) co_await state->AwaitEnd(time_ms);
  state->output.Settle();
  // What failed may have failed for its memory.
  if (done && done->status != 0 && state->Looks()) state->EndIfOverMemory();
  if (state->output.TooMuch() || life.state() == Life::kEnding) {
    // It is being killed, although it may have told its own end meanwhile.
    done.reset();
    co_await state->AwaitKilled();
  }
  State::CallUnderWay over = *std::exchange(state->under_way, std::nullopt);
  if (life.failure() && !life.ended()) {
    state->box->Tell(wire::ToInit::kKill);
    co_return std::unexpected(*life.failure());
  }
  // Behind the answer: it takes as long as a small call does.
  if (over.done) asio::post(state->loop, [state] { state->LookAfter(); });
  CallResult result = state->Finish(std::move(over), began);
  result.late_output = std::move(late_output);
  result.late_error = std::move(late_error);
  co_return result;
}

asio::awaitable<Result<void>> Interpreter::Renew() {
  const std::shared_ptr<State> state = state_;
  const InterpreterLife& life = state->life;
  co_await state->WaitUntilWhole();
  if (!life.failure() && !life.ended()) {
    state->box->Tell(wire::ToInit::kKill);
    co_await state->AwaitKilled();
  }
  if (life.failure() || !co_await state->Again()) {
    co_return std::unexpected(*life.failure());
  }
  // Whoever asked for it knows, and what the old one printed last is nobody's.
  state->loss.reset();
  state->output.Settle();
  for (OutputPump& each : state->output.pumps) (void)each.TakeCaptured();
  co_return Result<void>();
}

void Interpreter::Interrupt() {
  if (state_->stop == State::Stop::kNo) state_->stop = State::Stop::kAsked;
  state_->changed.cancel();
}

void Interpreter::Kill() {
  if (state_->options.connection) state_->options.connection->Unpublish();
  if (!state_->sharing.PutOff(MemorySharing::End::kKill)) {
    state_->box->Tell(wire::ToInit::kKill);
  }
  state_->FailWith({Errc::kFailedPrecondition, "the session was ended", "begin another", 0});
}

bool Interpreter::alive() const { return !state_->life.failure(); }

bool Interpreter::fresh() const {
  return state_->life.state() == Life::kReady && state_->last_id == 0;
}

int Interpreter::workspace() const {
  const auto handed = state_->box->sandbox().handed_out();
  return handed.empty() ? -1 : handed.front().get();
}

}  // namespace igloo::session
