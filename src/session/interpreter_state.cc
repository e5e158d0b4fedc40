// What every part of an Interpreter does: waits, hears what comes, and ends.

#include "session/interpreter_state.h"

#include <signal.h>

#include "base/file.h"
#include "session/files/project_check.h"

namespace igloo::session {

namespace asio = boost::asio;

namespace {

using Life = InterpreterLife::State;

/// For an end to be reported once everything was killed.
constexpr auto kKillLimit = std::chrono::seconds(15);
constexpr auto kLook = std::chrono::milliseconds(100);

}  // namespace

OutputPump::Options Interpreter::State::PumpOptions() {
  return {.keep = options.capture_limit,
          .which = Keep::kFirstAndLast,
          .limit = options.output_limit,
          .heard =
              [this](std::string_view bytes) {
                if (under_way && under_way->heard) under_way->heard(bytes);
              },
          .must_end = [this] { box->Tell(wire::ToInit::kKill); }};
}

Result<void> Interpreter::State::Start(int checkpoint) {
  backend::Channels channels;
  IGLOO_ASSIGN(OutputPipes pipes, MakeOutputPipes(channels));
  IGLOO_ASSIGN(channels.standard_input, OpenNothing());
  IGLOO_ASSIGN(FdPair orders, MakePipe());
  IGLOO_ASSIGN(FdPair answers, MakePipe());
  channels.extra.push_back(std::move(orders.first));
  channels.extra.push_back(std::move(answers.second));
  const bool restored = checkpoint >= 0;
  if (restored) {
    channels.extra.push_back(Duplicate(checkpoint));
    if (!channels.extra.back()) return Fail(Errc::kExhausted, "no descriptor is left");
  }
  box->Connect(options.connection);
  output.pumps[0].OpenResting(std::move(pipes.output));
  output.pumps[1].OpenResting(std::move(pipes.error));
  IGLOO_TRY(box->Start(std::move(channels), options.group ? &*options.group : nullptr,
                       wire::Life::kStays,
                       restored ? wire::Birth::kRestored : wire::Birth::kStarted));
  driver->Open(std::move(orders.second), std::move(answers.first));
  if (restored) driver->Send(kRestored);
  return {};
}

asio::awaitable<void> Interpreter::State::Wait(std::function<bool()> condition,
                                               Clock::time_point until) {
  const auto self = shared_from_this();
  const bool looks = Looks();
  while (!condition() && !life.failure() && Clock::now() < until) {
    changed.expires_at(looks && under_way ? std::min(until, Clock::now() + kLook) : until);
    boost::system::error_code ignored;
    auto token = Redirect(ignored);
    co_await changed.async_wait(token);
    if (looks && under_way && !under_way->done && !life.ended()) EndIfOverMemory();
  }
}

asio::awaitable<void> Interpreter::State::WaitUntilWhole() {
  auto whole = [this] { return sharing.state() != MemorySharing::State::kLends; };
  co_await Wait(whole, Clock::time_point::max());
}

asio::awaitable<void> Interpreter::State::AwaitKilled() {
  auto over = [this] { return life.ended().has_value(); };
  co_await Wait(over, Clock::now() + kKillLimit);
  if (over()) co_return;
  FailWith({Errc::kTimeout, "the interpreter did not end when it was killed",
            "this should not happen; please report it", 0});
}

asio::awaitable<Result<void>> Interpreter::State::WaitUntilReady() {
  auto condition = [this] { return life.state() == Life::kReady || life.ended(); };
  co_await Wait(condition, Clock::now() + options.start_limit);
  if (life.failure()) co_return std::unexpected(*life.failure());
  output.Settle();
  if (life.state() == Life::kReady) {
    output.Rest();  // nothing runs in it that could say more
    co_return Result<void>();
  }
  const std::string said = output.pumps[1].TakeCaptured().kept();
  const bool ended = life.ended().has_value();
  FailWith({ended ? Errc::kFailedPrecondition : Errc::kTimeout,
            ended ? "the interpreter ended before it was ready" + (said.empty() ? "" : ": " + said)
                  : "the interpreter did not get ready",
            "run the code without a session to see what this environment can do", 0});
  co_return std::unexpected(*life.failure());
}

asio::awaitable<bool> Interpreter::State::Again() {
  const auto [how, out_of_memory] = life.Renew();
  loss = Loss{.verdict = VerdictOf(how, {.out_of_memory = out_of_memory}, plan.payload)};
  loss->exit_code = ExitCodeOf(how, loss->verdict);
  if (options.group) options.group->leaf().ForgetHits();
  driver->DropOrders();
  driver->Forget();
  WatchOutput();
  box->Tell(wire::ToInit::kAgain);
  const auto fine = co_await WaitUntilReady();
  co_return fine.has_value();
}

void Interpreter::State::WatchOutput() {
  for (std::size_t i = 0; i < output.pumps.size(); ++i) {
    asio::co_spawn(loop, WatchOutput(i), asio::detached);
  }
}

asio::awaitable<void> Interpreter::State::WatchOutput(std::size_t index) {
  const auto self = shared_from_this();
  co_await output.pumps[index].Follow();
}

void Interpreter::State::WatchOutputSoon() {
  if (std::exchange(output.soon_set, true)) return;
  output.soon.expires_at(output.small_until);
  output.soon.async_wait([self = shared_from_this()](boost::system::error_code error) {
    self->output.soon_set = false;
    if (error) return;
    if (self->Looks()) self->EndIfOverMemory();
    // One that began meanwhile has its own time.
    if (Clock::now() < self->output.small_until) return self->WatchOutputSoon();
    self->WatchOutput();
  });
}

void Interpreter::State::EndIfOverMemory() {
  looked = Clock::now();
  if (!options.group->leaf().ReadHits().memory || !life.RunOutOfMemory()) return;
  box->Tell(wire::ToInit::kKill);
}

void Interpreter::State::FailWith(Error error) {
  life.Fail(std::move(error));
  driver->DropOrders();
  changed.cancel();
}

void Interpreter::State::Lose(Error error, bool vanished) {
  if (vanished && under_way && !life.ended() && Looks() &&
      options.group->leaf().ReadHits().memory) {
    // The kernel took the whole group, igloo-init with it.
    life.End(
        {.kind = wire::EndKind::kSignalled, .cause = wire::EndCause::kMemory, .status = SIGKILL},
        false);
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
  if (!wire::IsLast(came)) {
    FailWith({Errc::kProtocol, "the sandbox reported what nobody asked for", {}, 0});
    return;
  }
  if (under_way) (void)driver->Listen();  // it may have said more than was heard yet
  const auto& ended = std::get<wire::Ended>(came);
  const bool well = ended.kind == wire::EndKind::kExited && ended.status == 0;
  life.End(ended, !well && Looks() && options.group->leaf().ReadHits().memory);
  driver->DropOrders();
  changed.cancel();
}

bool Interpreter::State::Hear(Result<Said> came) {
  if (came) {
    Take(*std::move(came));
  } else {
    FailWith(std::move(came).error());
  }
  if (!life.failure()) return true;
  // Nothing that it says counts any more, and nobody may be waiting for it just now.
  box->Tell(wire::ToInit::kKill);
  return false;
}

void Interpreter::State::Take(Said came) {
  // A word about a call that is not under way is somebody else's, or a lie.
  const auto counts = [this](std::uint64_t id) { return under_way && id == last_id; };
  if (const auto* piece = std::get_if<said::Piece>(&came)) {
    if (!counts(piece->id)) TakeIdle(piece->bytes);
    return;  // nobody waits for one
  }
  if (auto* shown = std::get_if<said::Shown>(&came)) {
    if (!counts(shown->id)) return TakeIdle(shown->last_bytes);
    under_way->part_bytes += shown->part.bytes.size();
    if (under_way->part_bytes <= options.capture_limit && under_way->parts.size() < 100) {
      under_way->parts.push_back(std::move(shown->part));
    }
  } else if (auto* end = std::get_if<said::Done>(&came)) {
    if (!counts(end->id)) return TakeIdle(0);
    under_way->done = std::move(*end);
  } else if (const auto* still = std::get_if<said::StandsIn>(&came)) {
    if (!stand_in || stand_in->pid) return TakeIdle(options.capture_limit);
    stand_in->pid = still->pid;
  } else {
    // The last word of one that ended may be heard after its end.
    if (!life.BecomeReady())
      return TakeIdle(life.state() == Life::kReady ? options.capture_limit : 0);
    first_id = last_id + 1;
    pid = std::get<said::Ready>(came).pid;
  }
  changed.cancel();
}

void Interpreter::State::TakeIdle(std::size_t bytes) {
  constexpr std::size_t kFrame = 64;
  idle_words += kFrame + bytes;
  if (idle_words < options.capture_limit) return;
  FailWith({Errc::kProtocol, "the interpreter said what it may not", {}, 0});
}

void Interpreter::State::CloseAll() {
  box->Close();
  driver->Close();
  for (OutputPump& each : output.pumps) each.Close();
  changed.cancel();
  output.soon.cancel();
  // One that nobody used, too: an environment's interpreter may do anything while it waits.
  if (set_id.needed() && box->started()) {
    FinishAside(loop, std::move(set_id), *box, NoteEach(options.note));
  }
}

}  // namespace igloo::session
