// Copies of an interpreter: forks of sessions, and checkpoints.

#include "base/file.h"
#include "base/overloaded.h"
#include "session/interpreter_state.h"

namespace igloo::session {

namespace asio = boost::asio;
using Clock = std::chrono::steady_clock;

namespace {

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

/// Everything that it says of a fork comes once, and in this order; 0: may come at any time, or
/// never.
int StepOf(const copy::News& news) {
  return std::visit(
      Overloaded{[](const copy::news::Expects&) { return 1; },
                 [](const copy::news::Holds&) { return 2; },
                 [](const copy::news::GoesOn&) { return 3; },
                 [](const copy::news::Complete&) { return 4; }, [](const auto&) { return 0; }},
      news);
}

}  // namespace

asio::awaitable<Result<void>> Interpreter::State::MakeStandIn(std::string_view order,
                                                              std::string_view text,
                                                              std::string_view flags) {
  stand_in.reset();
  wants_stand_in = true;
  const bool loads = order == kMakeCheckpoint;
  Send(EncodeOrder(order, 0, text, flags));
  auto stands = [this] { return stand_in || ended || failure; };
  co_await Wait(stands, Clock::now() + (loads ? Clock::duration(kLoadLimit) : kStandInLimit));
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
asio::awaitable<void> Interpreter::State::Lend(std::shared_ptr<State> other,
                                               std::shared_ptr<Copying> copying) {
  const auto self = shared_from_this();
  bool complete = false;
  int step = 0;
  for (;;) {
    auto came = co_await copying->copier->Hear();
    if (!came) copying->lost = came.error();
    if (!came || !*came) break;
    const copy::News& news = (*came)->news;
    // SECURITY: it may be hostile by now. A copy counts only when its child was asked for and held.
    if (!std::holds_alternative<copy::news::Failed>(news) && StepOf(news) != ++step) {
      copying->lost = OutOfOrder();
      break;
    }
    if (const auto* expects = std::get_if<copy::news::Expects>(&news)) {
      expected = expects->closed ? kClosed : kOpen;
    }
    if (std::holds_alternative<copy::news::GoesOn>(news)) other->copied = true;
    if (std::holds_alternative<copy::news::Complete>(news)) complete = true;
    if (const auto* holds = std::get_if<copy::news::Holds>(&news)) copying->held = holds->inner;
    if (const auto* failed = std::get_if<copy::news::Failed>(&news)) {
      copying->lost = Error{Errc::kFailedPrecondition, failed->what, failed->hint, 0};
      Spoil(*other, *copying->lost);
    }
    changed.cancel();
  }
  if (!complete) {
    if (!copying->lost) copying->lost = LostCopier();
    Spoil(*other, *copying->lost);
  }
  copying->copier.reset();
  copying->over = true;
  EndLending(*other, *copying);
  changed.cancel();
}

/// SECURITY: a copy that lacks some of its memory never goes on with something else in its place.
void Interpreter::State::Spoil(State& copy, const Error& why) {
  copy.FailWith(why);
  if (copy.box->started()) copy.box->sandbox().Kill();
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
  state->lending = other->borrowing = true;
  state->expected = {};
  state->stand_in.reset();  // that of another fork
  asio::co_spawn(state->loop, state->Lend(other, copying), asio::detached);
  auto expected = [state, copying] { return !state->expected.empty() || copying->over; };
  co_await state->Wait(expected, Clock::time_point::max());
  Result<void> stands;
  if (!copying->over && !state->failure)
    stands = co_await state->MakeStandIn(kStandIn, {}, state->expected);
  copying->answered = true;
  if (copying->copier) copying->copier->Answered();
  state->EndLending(*other, *copying);
  auto known = [other, copying] { return other->copied || copying->over; };
  co_await state->Wait(known, Clock::time_point::max());
  if (!stands) co_return stands;
  // The copier's own words come first: what else is heard of the copy follows from them.
  if (copying->over && copying->lost) co_return std::unexpected(*copying->lost);
  if (other->failure) co_return std::unexpected(*other->failure);
  if (!other->copied) co_return std::unexpected(state->failure.value_or(LostVariables()));
  // None: igloo-copy was done before anybody was asked to fork.
  if (!state->stand_in || copying->held != *state->stand_in) {
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
      .original = *state->stand_in,
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
  state->Settle();
  co_return Written{.file = std::move((*heard)->file),
                    .complaints = state->pumps[1].TakeCaptured().kept()};
}

}  // namespace igloo::session
