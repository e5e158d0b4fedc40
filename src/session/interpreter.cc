#include <signal.h>
#include <sys/socket.h>

#include "base/clock.h"
#include "base/file.h"
#include "session/interpreter_state.h"
#include "session/warm/checkpoint.h"

namespace igloo::session {

namespace asio = boost::asio;
using Clock = std::chrono::steady_clock;

namespace {

/// For an end to be reported once everything was killed.
constexpr auto kKillLimit = std::chrono::seconds(15);
/// A call that takes no longer is not interrupted by its own output.
constexpr auto kSmall = std::chrono::milliseconds(2);
constexpr auto kLook = std::chrono::milliseconds(100);
/// Until a new interpreter has made itself a session's, and hears an interrupt, on a busy machine.
constexpr auto kAwake = std::chrono::milliseconds(200);
constexpr auto kNudgeAgain = std::chrono::milliseconds(200);

Error NotKilled() {
  return {Errc::kTimeout, "the interpreter did not end when it was killed",
          "this should not happen; please report it", 0};
}

}  // namespace

OutputPump::Options Interpreter::State::PumpOptions() {
  return {.keep = options.capture_limit,
          .which = Keep::kFirstAndLast,
          .limit = options.output_limit,
          .heard =
              [this](std::string_view bytes) {
                if (running && heard) heard(bytes);
              },
          .must_end = [this] { box->Tell(wire::ToInit::kKill); }};
}

Result<void> Interpreter::State::Start(int checkpoint) {
  backend::Channels channels;
  IGLOO_ASSIGN(OutputPipes pipes, MakeOutputPipes(channels));
  IGLOO_ASSIGN(channels.standard_input, OpenNothing());
  IGLOO_ASSIGN(FdPair orders_pipe, MakePipe());
  IGLOO_ASSIGN(FdPair answers_pipe, MakePipe());
  channels.extra.push_back(std::move(orders_pipe.first));
  channels.extra.push_back(std::move(answers_pipe.second));
  const bool restored = checkpoint >= 0;
  if (restored) {
    channels.extra.push_back(Duplicate(checkpoint));
    if (!channels.extra.back()) return Fail(Errc::kExhausted, "no descriptor is left");
  }
  box->Connect(options.connection);
  pumps[0].OpenResting(std::move(pipes.output));
  pumps[1].OpenResting(std::move(pipes.error));
  IGLOO_TRY(box->Start(std::move(channels), options.group ? &*options.group : nullptr,
                       wire::Life::kStays,
                       restored ? wire::Birth::kRestored : wire::Birth::kStarted));
  orders.assign(orders_pipe.second.Release());
  orders.non_blocking(true);
  if (restored) Send(kRestored);
  answers.assign(answers_pipe.first.Release());
  answers.non_blocking(true);
  return {};
}

void Interpreter::State::FailWith(Error error) {
  if (!failure) failure = std::move(error);
  if (orders.is_open()) orders.cancel();
  changed.cancel();
}

void Interpreter::State::Lose(Error error, bool vanished) {
  if (vanished && running && !ended && options.group && options.group->leaf().ReadHits().memory) {
    // The kernel took the whole group, igloo-init with it.
    ended = wire::Ended{
        .kind = wire::EndKind::kSignalled, .cause = wire::EndCause::kMemory, .status = SIGKILL};
    error = {Errc::kExhausted, "everything in it was killed for its memory",
             "let the code need less at once, or give its environment more", 0};
  }
  FailWith(std::move(error));
}

void Interpreter::State::Take(const wire::Report& came) {
  if (const auto* refused = std::get_if<wire::Refused>(&came)) {
    FailWith(backend::ExplainRefusal(*refused, plan.payload));
    return;
  }
  if (running) (void)Listen();  // it may have said more than was heard yet
  ended = std::get<wire::Ended>(came);
  const bool well = ended->kind == wire::EndKind::kExited && ended->status == 0;
  if (!well && Looks() && options.group->leaf().ReadHits().memory) out_of_memory = true;
  ready = false;
  if (orders.is_open()) orders.cancel();
  changed.cancel();
}

void Interpreter::State::WatchOutput() {
  for (std::size_t i = 0; i < pumps.size(); ++i) {
    asio::co_spawn(loop, WatchOutput(i), asio::detached);
  }
}

asio::awaitable<void> Interpreter::State::WatchOutput(std::size_t index) {
  const auto self = shared_from_this();
  co_await pumps[index].Follow();
}

void Interpreter::State::WatchOutputSoon() {
  if (std::exchange(soon_set, true)) return;
  soon.expires_at(small_until);
  soon.async_wait([self = shared_from_this()](boost::system::error_code error) {
    self->soon_set = false;
    if (error) return;
    if (self->Looks()) self->EndIfOverMemory();
    // One that began meanwhile has its own time.
    if (Clock::now() < self->small_until) return self->WatchOutputSoon();
    self->WatchOutput();
  });
}

void Interpreter::State::LookAfter() {
  if (ended || failure) return;
  for (OutputPump& each : pumps) each.Rest();
  WatchOutputSoon();
}

asio::awaitable<void> Interpreter::State::Wait(std::function<bool()> condition,
                                               Clock::time_point until) {
  const auto self = shared_from_this();
  const bool looks = Looks();
  while (!condition() && !failure && Clock::now() < until) {
    changed.expires_at(looks && running ? std::min(until, Clock::now() + kLook) : until);
    boost::system::error_code ignored;
    auto token = Redirect(ignored);
    co_await changed.async_wait(token);
    if (looks && running && !done && !ended) EndIfOverMemory();
  }
}

bool Interpreter::State::Looks() const { return options.group.has_value(); }

void Interpreter::State::EndIfOverMemory() {
  looked = Clock::now();
  if (out_of_memory || !options.group->leaf().ReadHits().memory) return;
  out_of_memory = true;
  box->Tell(wire::ToInit::kKill);
}

asio::awaitable<void> Interpreter::State::AwaitKilled() {
  auto over = [this] { return ended.has_value(); };
  co_await Wait(over, Clock::now() + kKillLimit);
  if (!ended) FailWith(NotKilled());
}

asio::awaitable<Result<void>> Interpreter::State::WaitUntilReady() {
  auto condition = [this] { return ready || ended; };
  co_await Wait(condition, Clock::now() + options.start_limit);
  if (failure) co_return std::unexpected(*failure);
  Settle();
  if (ready) {
    // Nothing runs in it that could say more.
    for (OutputPump& each : pumps) each.Rest();
    co_return Result<void>();
  }
  const std::string said = pumps[1].TakeCaptured().kept();
  FailWith({ended ? Errc::kFailedPrecondition : Errc::kTimeout,
            ended ? "the interpreter ended before it was ready" + (said.empty() ? "" : ": " + said)
                  : "the interpreter did not get ready",
            "run the code without a session to see what this environment can do", 0});
  co_return std::unexpected(*failure);
}

asio::awaitable<bool> Interpreter::State::Again() {
  loss = Loss{.verdict = VerdictOf(*ended, {.out_of_memory = out_of_memory}, plan.payload)};
  loss->exit_code = ExitCodeOf(*ended, loss->verdict);
  ended.reset();
  out_of_memory = false;
  if (options.group) options.group->leaf().ForgetHits();
  ++generation;
  Forget();
  WatchOutput();
  box->Tell(wire::ToInit::kAgain);
  const auto fine = co_await WaitUntilReady();
  co_return fine.has_value();
}

void Interpreter::State::Settle() {
  for (OutputPump& each : pumps) each.Take();
}

asio::awaitable<void> Interpreter::State::AwaitEnd(const Call& call) {
  auto over = [this] { return done || ended; };
  auto over_or_stopping = [this] { return done || ended || stopping; };
  const auto limit = call.time_ms == 0 ? Clock::time_point::max()
                                       : Clock::now() + std::chrono::milliseconds(call.time_ms);
  co_await Wait(over_or_stopping, std::min(limit, small_until));
  if (over() || failure) co_return;
  WatchOutput();
  co_await Wait(over_or_stopping, limit);
  if (over() || failure) co_return;
  timed_out = !stopping;
  if (last_id == first_id) co_await Wait(over, small_until - kSmall + kAwake);
  // More than once: a signal that comes between a fork and an exec is heard by nobody.
  const auto patience = Clock::now() + options.grace;
  while (!over() && !failure && Clock::now() < patience) {
    box->Tell(wire::ToInit::kNudge);
    co_await Wait(over, std::min(patience, Clock::now() + kNudgeAgain));
  }
  if (over() || failure) co_return;
  box->Tell(wire::ToInit::kKill);
  co_await Wait(over, Clock::now() + kKillLimit);
  if (!over()) FailWith(NotKilled());
}

CallResult Interpreter::State::Finish(std::int64_t began) {
  const bool too_much = TooMuch();
  CallResult result{.output = pumps[0].TakeCaptured(),
                    .error = pumps[1].TakeCaptured(),
                    .parts = std::move(parts),
                    .lost_before = std::exchange(loss, std::nullopt),
                    .wall_micros = MonotonicMicros() - began};
  if (options.connection) result.refused = options.connection->TakeRefusals();
  if (done) {
    result.exit_code = done->status;
    result.value = std::move(done->value);
    result.verdict = timed_out           ? Verdict::kTimeout
                     : done->interrupted ? Verdict::kInterrupted
                     : done->status == 0 ? Verdict::kOk
                                         : Verdict::kExit;
    if (timed_out) result.exit_code = 124;
  } else {
    const Outside outside{.too_much_output = too_much, .out_of_memory = out_of_memory};
    result.verdict = timed_out ? Verdict::kTimeout : VerdictOf(*ended, outside, plan.payload);
    result.exit_code = ExitCodeOf(*ended, result.verdict);
    if (ended->kind == wire::EndKind::kSignalled) result.signal = static_cast<int>(ended->status);
    result.lost_now = true;
    result.gone = failure.has_value();
    result.cpu_micros = ended->cpu_micros;
    result.peak_kib = ended->peak_kib;
  }
  return result;
}

Interpreter::Interpreter(asio::io_context& loop, const sandbox::Plan& plan,
                         backend::Backend& backend, InterpreterOptions options)
    : state_(std::make_shared<State>(loop, plan, backend, std::move(options))) {}

Interpreter::~Interpreter() {
  state_->abandoned = true;
  if (state_->lending) {
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
      state->failure = file.error();
      co_return std::unexpected(file.error());
    }
    checkpoint = *file;
  }
  auto started = state->Start(checkpoint);
  state->options.checkpoint.reset();
  if (!started) {
    state->failure = started.error();
    co_return started;
  }
  state->box->Watch();
  const auto executor = co_await asio::this_coro::executor;
  asio::co_spawn(executor, state->WatchDriver(), asio::detached);
  state->WatchOutput();
  co_return co_await state->WaitUntilReady();
}

asio::awaitable<Result<CallResult>> Interpreter::Execute(Call call) {
  const std::shared_ptr<State> state = state_;
  if (state->failure) co_return std::unexpected(*state->failure);
  const std::int64_t began = MonotonicMicros();
  // Before anything is waited for: an interrupt that comes meanwhile is meant for this call.
  state->stopping = state->timed_out = false;
  if (state->lending) {
    auto whole = [state] { return !state->lending; };
    co_await state->Wait(whole, Clock::time_point::max());
    if (state->failure) co_return std::unexpected(*state->failure);
  }
  // Something in the background may have lost a process to the limit. Not for each of many calls.
  const bool idled = state->last_id > 0 && !state->ended && Clock::now() - state->looked > kLook;
  if (idled && state->Looks()) state->EndIfOverMemory();
  if (state->out_of_memory && !state->ended) co_await state->AwaitKilled();
  if (state->failure) co_return std::unexpected(*state->failure);
  if (state->ended && !co_await state->Again()) co_return std::unexpected(*state->failure);
  if (state->last_id > 0) {  // before the first one nothing runs that could say more
    state->Settle();
    (void)state->Listen();  // to what is no word about this call
  }
  CappedText late_output = state->pumps[0].TakeCaptured();
  CappedText late_error = state->pumps[1].TakeCaptured();
  state->done.reset();
  state->parts.clear();
  state->part_bytes = 0;
  state->idle_words = 0;
  state->running = true;
  state->heard = std::move(call.heard);
  state->small_until = Clock::now() + kSmall;
  const std::string order = state->Order(call);
  state->Send(order);
  // What small code prints is taken with its answer: each word would wake this thread for nothing.
  for (OutputPump& each : state->pumps) each.Rest();
  // An interpreter that the kernel woke on this processor has run by now.
  (void)state->Listen();
  if (!state->done) co_await state->AwaitEnd(call);
  state->Settle();
  // What failed may have failed for its memory.
  if (state->done && state->done->status != 0 && state->Looks()) state->EndIfOverMemory();
  if (state->TooMuch() || (state->out_of_memory && !state->ended)) {
    // It is being killed, although it may have told its own end meanwhile.
    state->done.reset();
    co_await state->AwaitKilled();
  }
  state->running = false;
  state->heard = {};
  if (state->failure && !state->ended) {
    state->box->Tell(wire::ToInit::kKill);
    co_return std::unexpected(*state->failure);
  }
  // Behind the answer: it takes as long as a small call does.
  if (state->done) asio::post(state->loop, [state] { state->LookAfter(); });
  CallResult result = state->Finish(began);
  result.late_output = std::move(late_output);
  result.late_error = std::move(late_error);
  co_return result;
}

asio::awaitable<Result<void>> Interpreter::Renew() {
  const std::shared_ptr<State> state = state_;
  auto whole = [state] { return !state->lending; };
  co_await state->Wait(whole, Clock::time_point::max());
  if (!state->failure && !state->ended) {
    state->box->Tell(wire::ToInit::kKill);
    co_await state->AwaitKilled();
  }
  if (state->failure || !co_await state->Again()) co_return std::unexpected(*state->failure);
  // Whoever asked for it knows, and what the old one printed last is nobody's.
  state->loss.reset();
  state->Settle();
  (void)state->pumps[0].TakeCaptured();
  (void)state->pumps[1].TakeCaptured();
  co_return Result<void>();
}

void Interpreter::Interrupt() {
  state_->stopping = true;
  state_->changed.cancel();
}

void Interpreter::Kill() {
  if (state_->options.connection) state_->options.connection->Unpublish();
  if (state_->lending) {
    state_->kill_later = true;
  } else {
    state_->box->Tell(wire::ToInit::kKill);
  }
  state_->FailWith({Errc::kFailedPrecondition, "the session was ended", "begin another", 0});
}

bool Interpreter::alive() const { return !state_->failure; }

bool Interpreter::fresh() const { return alive() && state_->ready && state_->last_id == 0; }

int Interpreter::workspace() const {
  const auto handed = state_->box->sandbox().handed_out();
  return handed.empty() ? -1 : handed.front().get();
}

}  // namespace igloo::session
