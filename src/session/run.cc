#include "session/run.h"

#include <fcntl.h>
#include <signal.h>

#include <chrono>

#include "base/file.h"
#include "session/files/project_check.h"
#include "session/run_state.h"

namespace igloo::session {

namespace asio = boost::asio;

namespace {

/// igloo-init enforces the time limit; the host's own comes later and is for an init that does not.
/// The margin covers the set-up on a machine that is busy.
constexpr std::uint64_t kInitMarginMs = 15'000;
/// After the report every writer is dead; only a descriptor smuggled out could keep a pipe open.
constexpr auto kDrainLimit = std::chrono::seconds(1);
/// And whoever holds it cannot go on for ever by writing.
constexpr auto kDrainMost = std::chrono::seconds(10);
/// How often a cgroup that cannot tell by itself is asked.
constexpr auto kLook = std::chrono::milliseconds(100);
/// For igloo-proxy to say what became of the last connections.
constexpr auto kNetworkLimit = std::chrono::milliseconds(500);

}  // namespace

OutputPump::Options Run::State::PumpOptions(std::size_t index) {
  return {.live = io.live[index],
          .keep = io.capture_limit,
          .which = io.keep,
          .limit = io.output_limit,
          // Only an end waits for what is being written; waking it for every chunk costs more than
          // the chunk.
          .moved =
              [this] {
                if (report || failure) changed.cancel();
              },
          .heard =
              [this](std::string_view bytes) {
                if (io.heard) io.heard(bytes);
              },
          .must_end =
              [this] {
                changed.cancel();
                EndAll();
              }};
}

Result<void> Run::State::Start() {
  backend::Channels channels;
  IGLOO_TRY(io.terminal ? UseTerminal(channels) : UsePipes(channels));
  box->Connect(io.connection);
  return box->Start(std::move(channels), io.group ? &*io.group : nullptr, wire::Life::kOnce,
                    wire::Birth::kStarted, io.watched);
}

Result<void> Run::State::UsePipes(backend::Channels& channels) {
  IGLOO_ASSIGN(OutputPipes pipes, MakeOutputPipes(channels));
  if (io.input) {
    IGLOO_ASSIGN(FdPair in, MakePipe());
    channels.standard_input = std::move(in.first);
    feed.Open(std::move(io.input), std::move(in.second));
  } else {
    IGLOO_ASSIGN(channels.standard_input, OpenNothing());
  }
  pumps[0].Open(std::move(pipes.output));
  pumps[1].Open(std::move(pipes.error));
  open_outputs = 2;
  return {};
}

Result<void> Run::State::UseTerminal(backend::Channels& channels) {
  for (UniqueFd* end : {&channels.standard_input, &channels.standard_output}) {
    end->Reset(::fcntl(io.terminal.get(), F_DUPFD_CLOEXEC, 0));
    if (!*end) {
      const int saved_errno = errno;
      return FailSys(saved_errno, "cannot copy the terminal's descriptor");
    }
  }
  channels.standard_error = std::move(io.terminal);
  return {};
}

asio::awaitable<void> Run::State::WatchOutput(std::size_t index) {
  const auto self = shared_from_this();
  co_await pumps[index].Run();
  --open_outputs;
  changed.cancel();
}

asio::awaitable<void> Run::State::FeedInput() {
  const auto self = shared_from_this();
  co_await feed.Run();
}

bool Run::State::LookAfterMemory() {
  if (!io.group->leaf().ReadHits().memory) return false;
  out_of_memory = true;
  box->Tell(wire::ToInit::kKill);
  return true;
}

asio::awaitable<void> Run::State::WaitForEnd() {
  const auto self = shared_from_this();
  using Clock = std::chrono::steady_clock;
  auto deadline = Clock::time_point::max();
  auto next_look = deadline;
  auto drain_end = deadline;
  // Version 2 ends the whole group itself. A short run never pays for the first look.
  if (io.group && io.group->leaf().kind() == cgroup::Kind::kV1 &&
      io.group->leaf().out_of_memory() == cgroup::OutOfMemory::kEndsAll) {
    next_look = Clock::now() + kLook;
  }
  const auto begin_time = [&] {
    const std::uint64_t total = time_ms + plan.payload.grace_ms + kInitMarginMs;
    if (time_ms != 0) deadline = Clock::now() + std::chrono::milliseconds(total);
  };
  bool making = making_ms != 0;
  if (making) {
    deadline = Clock::now() + std::chrono::milliseconds(making_ms);
  } else {
    begin_time();
  }
  while (!Settled()) {
    if (making && built) {
      making = false;
      deadline = Clock::time_point::max();
      begin_time();
    }
    const bool draining = report.has_value();
    // A slow reader gets the rest in its own time; nobody else can be writing any more.
    if (draining) {
      next_look = Clock::time_point::max();
      const bool writing = pumps[0].writing() || pumps[1].writing();
      drain_end = std::min(drain_end, Clock::now() + kDrainMost);
      deadline =
          writing ? Clock::time_point::max() : std::min(Clock::now() + kDrainLimit, drain_end);
    }
    changed.expires_at(std::min(deadline, next_look));
    boost::system::error_code error;
    auto token = Redirect(error);
    co_await changed.async_wait(token);
    if (!error && Clock::now() >= next_look) {
      next_look = LookAfterMemory() ? Clock::time_point::max() : Clock::now() + kLook;
    }
    if (error || Clock::now() < deadline) continue;
    if (draining) co_return;
    box->sandbox().Kill();
    FailWith({Errc::kTimeout,
              making ? "the sandbox was not built in time"
                     : "the sandbox did not end at its time limit and was killed",
              "this should not happen; please report it", 0});
  }
}

asio::awaitable<void> Run::State::EndNetwork() {
  const auto self = shared_from_this();
  if (!io.connection) co_return;
  const auto over = std::make_shared<bool>(false);
  io.connection->End([over, self](auto) {
    *over = true;
    self->changed.cancel();
  });
  const auto until = std::chrono::steady_clock::now() + kNetworkLimit;
  while (!*over && std::chrono::steady_clock::now() < until) {
    changed.expires_at(until);
    boost::system::error_code ignored;
    auto token = Redirect(ignored);
    co_await changed.async_wait(token);
  }
}

Result<RunResult> Run::State::Finish() {
  const Outside outside{.group = io.group ? io.group->leaf().ReadHits() : cgroup::Hits{},
                        .too_much_output = pumps[0].too_much() || pumps[1].too_much(),
                        .out_of_memory = out_of_memory};
  if (vanished && outside.group.memory) {
    // The kernel took the whole group, igloo-init with it.
    report = wire::Ended{
        .kind = wire::EndKind::kSignalled, .cause = wire::EndCause::kMemory, .status = SIGKILL};
    failure.reset();
  }
  if (failure) return std::unexpected(*std::move(failure));
  if (const auto* refused = std::get_if<wire::Refused>(&*report)) {
    return std::unexpected(backend::ExplainRefusal(*refused, plan.payload));
  }
  const auto& ended = std::get<wire::Ended>(*report);
  // What was handed out came before the report, but may not have been taken yet.
  backend::Sandbox& sandbox = box->sandbox();
  if (sandbox.setup_fd() >= 0) (void)sandbox.ReadSetup();
  RunResult result;
  // By their places: where one did not come, none counts.
  if (sandbox.handed_out().size() == CountHandedOut(plan)) {
    result.handed_out = sandbox.TakeHandedOut();
  }
  result.verdict = VerdictOf(ended, outside, plan.payload);
  result.exit_code = ExitCodeOf(ended, result.verdict);
  result.signal = ended.kind == wire::EndKind::kSignalled ? static_cast<int>(ended.status) : 0;
  result.output = pumps[0].TakeCaptured();
  result.error = pumps[1].TakeCaptured();
  result.usage = ended;
  result.hits = outside.group;
  if (io.connection) result.refused = io.connection->TakeRefusals();
  result.timeline = sandbox.timeline();
  result.reported_micros = reported_micros;
  return result;
}

asio::awaitable<std::vector<std::string>> Run::State::PutProjectRight() {
  const auto self = shared_from_this();
  const auto said = std::make_shared<std::optional<std::vector<std::string>>>();
  FinishAside(loop, std::move(set_id), *box, [self, said](std::vector<std::string> sentences) {
    *said = std::move(sentences);
    self->changed.cancel();
  });
  while (!*said) {
    changed.expires_at(std::chrono::steady_clock::time_point::max());
    boost::system::error_code ignored;
    auto token = Redirect(ignored);
    co_await changed.async_wait(token);
  }
  co_return std::move(**said);
}

void Run::State::Join(const std::vector<std::string>& argv, UniqueFd terminal,
                      std::function<void(Result<int>)> ended) {
  if (freezer && freezer->frozen()) {
    return ended(Fail(Errc::kFailedPrecondition, "it is paused"));
  }
  if (!built) {
    once_built.push_back([this, argv, terminal = std::make_shared<UniqueFd>(std::move(terminal)),
                          ended = std::move(ended)] { Join(argv, std::move(*terminal), ended); });
    return;
  }
  const std::uint32_t number = ++last_joined;
  auto told = box->Join(number, argv, terminal.get());
  if (!told) return ended(std::unexpected(std::move(told).error()));
  joined.emplace(number, Joined{argv.front(), std::move(ended)});
}

void Run::State::EndJoined(const wire::JoinEnded& ended) {
  // What nobody asked for is a word of a hostile sandbox, and of no consequence.
  const auto entry = joined.extract(ended.number);
  if (entry.empty()) return;
  const Joined& program = entry.mapped();
  if (ended.step != wire::InitStep::kNone) {
    sandbox::Payload payload = plan.payload;
    payload.argv = {program.program};
    return program.ended(std::unexpected(
        backend::ExplainRefusal({.step = ended.step, .sys_errno = ended.sys_errno}, payload)));
  }
  const int status = static_cast<int>(ended.status);
  program.ended(ended.kind == wire::EndKind::kSignalled ? 128 + status : status);
}

void Run::State::CloseAll() {
  freezer.reset();
  once_built.clear();
  for (const auto& [number, program] : std::exchange(joined, {})) {
    program.ended(Fail(Errc::kFailedPrecondition, "the sandbox has ended"));
  }
  box->Close();
  feed.Close();
  for (OutputPump& each : pumps) each.Close();
  if (proxy) proxy->Close();
}

Run::Run(asio::io_context& loop, const sandbox::Plan& plan, backend::Backend& backend, RunIo io)
    : state_(std::make_shared<State>(loop, plan, backend, std::move(io))) {
  if (state_->io.beside) state_->io.beside(loop, *this);
}

Run::~Run() {
  state_->CloseAll();
  // SECURITY: whoever ends the server must not thereby end the check: what changed before counts.
  if (state_->MustCheckProject()) {
    FinishAside(state_->loop, std::move(state_->set_id), *state_->box, NoteEach(state_->io.note));
  }
}

void Run::State::Watch() {
  box->Watch();
  for (std::size_t index = 0; index < pumps.size(); ++index) {
    if (pumps[index].is_open()) asio::co_spawn(loop, WatchOutput(index), asio::detached);
  }
  if (feed.is_open()) asio::co_spawn(loop, FeedInput(), asio::detached);
}

asio::awaitable<Result<RunResult>> Run::State::End() {
  const auto self = shared_from_this();
  co_await WaitForEnd();
  co_await EndNetwork();
  auto result = Finish();
  CloseAll();
  // After a failure, too, and not on the word of igloo-init that nothing runs any more.
  if (MustCheckProject()) {
    auto put_right = co_await PutProjectRight();
    if (result) result->put_right = std::move(put_right);
  }
  co_return result;
}

asio::awaitable<Result<RunResult>> Run::Execute() {
  const std::shared_ptr<State> state = state_;
  const auto& connection = state->io.connection;
  auto started = connection ? connection->Publish() : Result<void>();
  if (started) started = state->Start();
  if (!started) co_return std::unexpected(std::move(started).error());
  state->Watch();
  co_return co_await state->End();
}

void Run::Join(const std::vector<std::string>& argv, UniqueFd terminal,
               std::function<void(Result<int>)> ended) {
  state_->Join(argv, std::move(terminal), std::move(ended));
}

void Run::Interrupt() { state_->box->Tell(wire::ToInit::kInterrupt); }

Result<void> Run::Pause(const cgroup::FreezerPlace& place) {
  State& state = *state_;
  if (!state.freezer) {
    if (!state.io.group || !state.box->started()) {
      return Fail(Errc::kFailedPrecondition,
                  "processes can be stopped together only by a cgroup, and there is none: " +
                      (place.why.empty() ? std::string("it has not started") : place.why),
                  "'igloo doctor' says what it found");
    }
    IGLOO_ASSIGN(cgroup::Freezer freezer, cgroup::Freezer::Make(place, state.io.group->leaf()));
    state.freezer.emplace(std::move(freezer));
  }
  return state.freezer->Freeze();
}

Result<void> Run::Resume() { return state_->freezer ? state_->freezer->Thaw() : Result<void>(); }

cgroup::Hits Run::hits() const {
  if (!state_->io.group) return {};
  const cgroup::Leaf& leaf = state_->io.group->leaf();
  cgroup::Hits hits = leaf.ReadHits();
  hits.processes = hits.processes || leaf.IsFullOfProcesses();
  return hits;
}

Result<void> Run::LimitCpusOfRunning(std::uint64_t millicpus) {
  return state_->io.group ? state_->io.group->leaf().LimitCpusOfRunning(millicpus) : Result<void>();
}

void Run::Continue() { state_->box->Tell(wire::ToInit::kContinue); }

void Run::Kill() {
  state_->EndAll();
  state_->abandoned = true;
  state_->changed.cancel();
}

Proxy* Run::proxy() { return state_->proxy.get(); }

}  // namespace igloo::session
