// Copies of an interpreter: forks of sessions, and checkpoints.

#include "base/file.h"
#include "base/overloaded.h"
#include "session/interpreter_state.h"

namespace igloo::session {

namespace asio = boost::asio;

namespace {

using Clock = std::chrono::steady_clock;

constexpr auto kStandInLimit = std::chrono::seconds(10);
/// Modules may take long to load.
constexpr auto kLoadLimit = std::chrono::seconds(60);
/// For igloo-copy, which keeps time itself (copy/write_checkpoint, copy/process_copy,
/// copy/page_supplier).
constexpr auto kCheckpointLimit = std::chrono::seconds(60);
constexpr auto kForkLimit = std::chrono::seconds(150);

Error LostVariables() {
  return {Errc::kFailedPrecondition, "the session has lost its variables",
          "there is nothing to fork: begin another session", 0};
}

Error LostCopier() {
  return {Errc::kFailedPrecondition, "igloo-copy ended before the copy was made",
          "something on this machine killed it (out of memory?); try again", 0};
}

Error OutOfOrder() {
  return {Errc::kProtocol, "igloo-copy says things in an order that makes no sense",
          "if that happens again, install igloo completely ('make install')", 0};
}

using Step = Copying::Step;

/// None: it may come at any time, or never.
Step StepOf(const copy::News& news) {
  return std::visit(Overloaded{[](const copy::news::Expects&) { return Step::kExpects; },
                               [](const copy::news::Holds&) { return Step::kHolds; },
                               [](const copy::news::GoesOn&) { return Step::kGoesOn; },
                               [](const copy::news::Complete&) { return Step::kComplete; },
                               [](const auto&) { return Step::kNothing; }},
                    news);
}

Step After(Step step) { return static_cast<Step>(static_cast<int>(step) + 1); }

}  // namespace

asio::awaitable<Result<int>> Interpreter::State::MakeStandIn(std::string_view order,
                                                             std::string_view text,
                                                             std::string_view flags) {
  stand_in.emplace();
  const bool loads = order == kMakeCheckpoint;
  driver->Send(EncodeOrder(order, 0, text, flags));
  auto stands = [this] { return stand_in->pid || life.ended(); };
  co_await Wait(stands, Clock::now() + (loads ? Clock::duration(kLoadLimit) : kStandInLimit));
  if (!stand_in->pid) {
    co_return Fail(Errc::kTimeout, "the session's interpreter does not let itself be forked",
                   "begin another session and run the same code there");
  }
  if (*stand_in->pid == 0) {
    co_return Fail(Errc::kFailedPrecondition,
                   "the session has no room for the one more process that a fork needs",
                   "let its code end some of its processes first");
  }
  co_return *stand_in->pid;
}

void Interpreter::State::EndStandIn() {
  stand_in.reset();
  driver->Send(EncodeOrder(kStandDown, 0, {}, "-"));
}

/// Until the copy has everything. Whatever ends one of the two meanwhile, the other is told.
asio::awaitable<void> Interpreter::State::Lend(std::shared_ptr<State> other,
                                               std::shared_ptr<Copying> copying) {
  const auto self = shared_from_this();
  for (;;) {
    auto came = co_await copying->copier->Hear();
    if (!came) copying->lost = came.error();
    if (!came || !*came) break;
    const copy::News& news = (*came)->news;
    if (const auto* failed = std::get_if<copy::news::Failed>(&news)) {
      copying->lost = Error{Errc::kFailedPrecondition, failed->what, failed->hint, 0};
      Spoil(*other, *copying->lost);
    } else if (StepOf(news) == After(copying->step)) {
      copying->step = StepOf(news);
    } else {
      // SECURITY: it may be hostile by now. A copy counts only when its child was asked for and
      // held.
      copying->lost = OutOfOrder();
      break;
    }
    if (const auto* expects = std::get_if<copy::news::Expects>(&news)) {
      copying->expected = expects->closed ? kClosed : kOpen;
    }
    if (const auto* holds = std::get_if<copy::news::Holds>(&news)) copying->held = holds->inner;
    changed.cancel();
  }
  if (copying->step != Step::kComplete) {
    if (!copying->lost) copying->lost = LostCopier();
    Spoil(*other, *copying->lost);
  }
  copying->copier.reset();
  EndLending(*other, *copying);
  changed.cancel();
}

/// SECURITY: a copy that lacks some of its memory never goes on with something else in its place.
void Interpreter::State::Spoil(State& copy, const Error& why) {
  copy.FailWith(why);
  if (copy.box->started()) copy.box->sandbox().Kill();
}

void Interpreter::State::EndLending(State& other, const Copying& copying) {
  if (!copying.over() || !copying.answered) return;
  other.sharing.Finish();
  const MemorySharing::End wanted = sharing.Finish();
  EndStandIn();
  if (wanted == MemorySharing::End::kKill) box->Tell(wire::ToInit::kKill);
  if (wanted == MemorySharing::End::kClose) CloseAll();
  changed.cancel();
  other.changed.cancel();
}

asio::awaitable<Result<void>> Interpreter::CopyTo(Interpreter& fresh) {
  const std::shared_ptr<State> state = state_;
  const std::shared_ptr<State> other = fresh.state_;
  const InterpreterLife &life = state->life, &copy_life = other->life;
  // One that is a copy itself and lacks something still, or is being copied, cannot hold still.
  auto whole = [state] { return state->sharing.state() == MemorySharing::State::kAlone; };
  co_await state->Wait(whole, Clock::time_point::max());
  if (life.failure()) co_return std::unexpected(*life.failure());
  if (life.ended()) co_return std::unexpected(LostVariables());
  const copy::Order order{
      .kind = copy::Order::Kind::kFork, .original = state->pid, .copy = other->pid};
  const auto init = state->box->sandbox().InitForCopier();
  if (!init) co_return std::unexpected(init.error());
  const auto other_init = other->box->sandbox().InitForCopier();
  if (!other_init) co_return std::unexpected(other_init.error());
  const std::array inits = {*init, *other_init};
  auto copier = Copier::Start(state->loop, state->options.copier, order, inits, kForkLimit);
  if (!copier) co_return std::unexpected(std::move(copier).error());
  const auto copying = std::make_shared<Copying>();  // shared with what follows igloo-copy
  copying->copier = *std::move(copier);
  state->sharing.Lend();
  other->sharing.Borrow();
  asio::co_spawn(state->loop, state->Lend(other, copying), asio::detached);
  auto expected = [copying] { return !copying->expected.empty() || copying->over(); };
  co_await state->Wait(expected, Clock::time_point::max());
  Result<int> stands = 0;  // igloo-copy was done before anybody was asked to fork
  if (!copying->over() && !life.failure()) {
    stands = co_await state->MakeStandIn(kStandIn, {}, copying->expected);
  }
  copying->answered = true;
  if (copying->copier) copying->copier->Answered();
  state->EndLending(*other, *copying);
  auto known = [copying] { return copying->goes_on() || copying->over(); };
  co_await state->Wait(known, Clock::time_point::max());
  if (!stands) co_return std::unexpected(std::move(stands).error());
  // The copier's own words come first: what else is heard of the copy follows from them.
  if (copying->over() && copying->lost) co_return std::unexpected(*copying->lost);
  if (copy_life.failure()) co_return std::unexpected(*copy_life.failure());
  if (!copying->goes_on()) {
    co_return std::unexpected(life.failure() ? *life.failure() : LostVariables());
  }
  if (*stands == 0 || copying->held != *stands) {
    Error other_child = {Errc::kFailedPrecondition,
                         "the session's own code forked at the same time",
                         "begin another session and run the same code there", 0};
    other->FailWith(other_child);
    co_return std::unexpected(std::move(other_child));
  }
  // What it says about lines of earlier calls stays true.
  other->last_id = state->last_id;
  other->driver->Send(EncodeOrder(kCopied, 0, {}, "-"));
  co_return Result<void>();
}

asio::awaitable<Result<Interpreter::Written>> Interpreter::WriteCheckpoint(
    std::vector<std::string> preload) {
  const std::shared_ptr<State> state = state_;
  std::string modules;
  for (const std::string& name : preload) modules.append(name).append("\n");
  state->WatchOutput();
  const auto stands = co_await state->MakeStandIn(kMakeCheckpoint, modules, kOpen);
  if (!stands) co_return std::unexpected(stands.error());
  constexpr int kStreams = 3;
  const copy::Order order{
      .kind = copy::Order::Kind::kCheckpoint,
      .original = *stands,
      .restored_as = state->pid,
      .descriptor = kStreams + static_cast<int>(state->plan.payload.extra_descriptors),
      .memory = state->plan.payload.memory_bytes};
  const auto init = state->box->sandbox().InitForCopier();
  if (!init) co_return std::unexpected(init.error());
  const std::array inits = {*init};
  auto copier = Copier::Start(state->loop, state->options.copier, order, inits, kCheckpointLimit);
  if (!copier) co_return std::unexpected(std::move(copier).error());
  auto heard = co_await (*copier)->Hear();
  if (!heard) co_return std::unexpected(std::move(heard).error());
  if (!*heard) co_return std::unexpected(LostCopier());
  if (const auto* failed = std::get_if<copy::news::Failed>(&(*heard)->news)) {
    co_return Fail(Errc::kFailedPrecondition, failed->what, failed->hint);
  }
  if (!(*heard)->file) co_return Fail(Errc::kProtocol, "igloo-copy wrote no checkpoint");
  state->output.Settle();
  co_return Written{.file = std::move((*heard)->file),
                    .complaints = state->output.pumps[1].TakeCaptured().kept()};
}

}  // namespace igloo::session
