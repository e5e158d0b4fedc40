#include "session/run.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include <array>
#include <chrono>
#include <optional>

#include "base/clock.h"
#include "base/file.h"
#include "base/overloaded.h"
#include "session/asio.h"
#include "session/feed.h"
#include "session/pump.h"
#include "session/verdict.h"

namespace igloo::session {

namespace asio = boost::asio;
using asio::posix::stream_descriptor;

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

auto Redirect(boost::system::error_code& error) {
  return asio::redirect_error(asio::use_awaitable, error);
}

void UseGroup(const cgroup::Leaf& leaf, backend::Channels& channels) {
  channels.group = leaf.entrance();
  channels.born_into = leaf.kind() == cgroup::Kind::kV2;
}

}  // namespace

/// Everything the watching coroutines share. They end on their own once descriptors close.
struct Run::State : std::enable_shared_from_this<Run::State> {
  State(asio::io_context& loop, const sandbox::Plan& p, backend::Backend& b, RunIo run_io)
      : plan(p),
        backend(b),
        io(std::move(run_io)),
        control(loop),
        setup(loop),
        feed(loop),
        pumps{OutputPump(loop, PumpOptions(0)), OutputPump(loop, PumpOptions(1))},
        changed(loop) {}

  Result<void> Start();
  Result<void> UsePipes(backend::Channels& channels);
  Result<void> UseTerminal(backend::Channels& channels);
  asio::awaitable<void> WatchSetup();
  asio::awaitable<void> WatchControl();
  asio::awaitable<void> WatchOutput(std::size_t index);
  OutputPump::Options PumpOptions(std::size_t index);
  asio::awaitable<void> FeedInput();
  asio::awaitable<void> SendStart();
  asio::awaitable<void> WaitForEnd();
  /// A sandbox that lost one process to its memory limit is ended: the rest of it waits in vain.
  bool LookAfterMemory();
  Result<RunResult> Finish();
  void CloseAll();

  void Tell(wire::ToInit kind) {
    const std::string frame = wire::EncodeSimple(kind);
    // INVARIANT: frames follow each other; one in the middle of the start message would break it.
    if (!start_sent) {
      orders += frame;
      return;
    }
    // Five bytes; a socket that cannot take them belongs to a sandbox that is gone.
    if (control.is_open()) {
      (void)!::send(control.native_handle(), frame.data(), frame.size(),
                    MSG_NOSIGNAL | MSG_DONTWAIT);
    }
  }
  void FailWith(Error error) {
    if (!failure && !report) failure = std::move(error);
    changed.cancel();
  }
  bool Settled() const { return failure || (report && (open_outputs == 0 || abandoned)); }

  const sandbox::Plan& plan;
  backend::Backend& backend;
  RunIo io;
  wire::Nonce nonce = wire::NewNonce();
  std::unique_ptr<backend::Sandbox> sandbox = {};
  stream_descriptor control, setup;
  InputFeed feed;
  std::array<OutputPump, 2> pumps;
  asio::steady_timer changed;  ///< cancelled whenever something the end depends on changed
  int open_outputs = 0;
  bool abandoned = false;   ///< the caller wants an end, not the rest of the output
  std::string orders = {};  ///< the start message, and what is said before it is sent
  bool start_sent = false;
  bool out_of_memory = false;
  bool vanished = false;  ///< ended without a report
  std::optional<wire::Report> report = {};
  std::int64_t reported_micros = 0;
  std::optional<Error> failure = {};
};

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
          .heard = io.heard,
          .must_end =
              [this] {
                changed.cancel();
                Tell(wire::ToInit::kKill);
              }};
}

Result<void> Run::State::Start() {
  wire::Start message = backend::StartMessage(plan.payload, nonce);
  if (io.group) {
    message.memory = wire::MemoryWatch::kCgroup;
    // What the kernel counts exactly needs no guess for each process, which would fail unnamed.
    std::erase_if(message.limits, [](const auto& limit) { return limit.resource == RLIMIT_DATA; });
  }
  IGLOO_ASSIGN(const std::string start, wire::EncodeStart(message));
  orders.insert(0, start);
  IGLOO_ASSIGN(FdPair control_pair, MakeSocketPair(SOCK_STREAM));
  backend::Channels channels{.control = std::move(control_pair.second)};
  if (io.group) UseGroup(io.group->leaf(), channels);
  IGLOO_TRY(io.terminal ? UseTerminal(channels) : UsePipes(channels));
  IGLOO_ASSIGN(sandbox, backend.Start(plan, std::move(channels)));
  control.assign(control_pair.first.Release());
  if (sandbox->setup_fd() >= 0) {
    // Asio owns what it watches; the sandbox keeps reading through its own copy.
    setup.assign(::fcntl(sandbox->setup_fd(), F_DUPFD_CLOEXEC, 0));
  }
  return {};
}

Result<void> Run::State::UsePipes(backend::Channels& channels) {
  IGLOO_ASSIGN(FdPair out, MakePipe());
  IGLOO_ASSIGN(FdPair err, MakePipe());
  channels.standard_output = std::move(out.second);
  channels.standard_error = std::move(err.second);
  if (io.input) {
    IGLOO_ASSIGN(FdPair in, MakePipe());
    channels.standard_input = std::move(in.first);
    feed.Open(std::move(io.input), std::move(in.second));
  } else {
    channels.standard_input.Reset(::open("/dev/null", O_RDONLY | O_CLOEXEC));
    if (!channels.standard_input) {
      const int saved_errno = errno;
      return FailSys(saved_errno, "cannot open /dev/null");
    }
  }
  pumps[0].Open(std::move(out.first));
  pumps[1].Open(std::move(err.first));
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

asio::awaitable<void> Run::State::SendStart() {
  const auto self = shared_from_this();
  control.non_blocking(true);
  for (std::size_t done = 0; done < orders.size();) {
    const ssize_t sent = ::send(control.native_handle(), orders.data() + done, orders.size() - done,
                                MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent > 0) {
      done += static_cast<std::size_t>(sent);
      continue;
    }
    // WatchControl sees the end of file.
    if (sent < 0 && errno != EAGAIN && errno != EINTR) co_return;
    boost::system::error_code error;
    auto token = Redirect(error);
    co_await control.async_wait(stream_descriptor::wait_write, token);
    if (error) co_return;
  }
  start_sent = true;
}

asio::awaitable<void> Run::State::WatchSetup() {
  const auto self = shared_from_this();
  while (sandbox->setup_fd() >= 0) {
    boost::system::error_code error;
    auto token = Redirect(error);
    co_await setup.async_wait(stream_descriptor::wait_read, token);
    if (error) co_return;
    if (auto read = sandbox->ReadSetup(); !read) {
      FailWith(std::move(read).error());
      co_return;
    }
  }
  setup.close();
}

asio::awaitable<void> Run::State::WatchControl() {
  const auto self = shared_from_this();
  wire::FrameBuffer frames(4096);  // init's reports are small; a larger one is a lie
  std::array<char, 4096> buffer;
  while (!report && !failure) {
    boost::system::error_code error;
    auto token = Redirect(error);
    const auto space = asio::buffer(buffer);
    const std::size_t count = co_await control.async_read_some(space, token);
    if (error) {
      // The set-up's own words, when there are any, say more than "gone".
      if (sandbox->setup_fd() >= 0) {
        if (auto read = sandbox->ReadSetup(); !read) FailWith(std::move(read).error());
      }
      vanished = !failure;
      FailWith(sandbox->WhyGone());
      co_return;
    }
    frames.Append({buffer.data(), count});
    auto payload = frames.Next();
    if (payload && payload->empty()) continue;
    auto decoded = payload ? wire::DecodeReport(*payload)
                           : Result<wire::Report>(std::unexpected(std::move(payload).error()));
    const bool ours =
        decoded && std::visit([&](const auto& r) { return r.nonce == nonce; }, *decoded);
    if (!decoded || !ours) {
      FailWith(decoded ? Error{Errc::kProtocol, "the sandbox answered another question", {}, 0}
                       : std::move(decoded).error());
      co_return;
    }
    report = *std::move(decoded);
    reported_micros = MonotonicMicros();
    changed.cancel();
  }
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
  Tell(wire::ToInit::kKill);
  return true;
}

asio::awaitable<void> Run::State::WaitForEnd() {
  const auto self = shared_from_this();
  using Clock = std::chrono::steady_clock;
  auto deadline = Clock::time_point::max();
  auto next_look = deadline;
  auto drain_end = deadline;
  // Version 2 ends the whole group itself. A short run never pays for the first look.
  if (io.group && io.group->leaf().kind() == cgroup::Kind::kV1) next_look = Clock::now() + kLook;
  if (plan.payload.time_ms != 0) {
    const std::uint64_t total = plan.payload.time_ms + plan.payload.grace_ms + kInitMarginMs;
    deadline = Clock::now() + std::chrono::milliseconds(total);
  }
  while (!Settled()) {
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
    sandbox->Kill();
    FailWith({Errc::kTimeout, "the sandbox did not end at its time limit and was killed",
              "this should not happen; please report it", 0});
  }
}

Result<RunResult> Run::State::Finish() {
  const Outside outside{.group = io.group ? io.group->leaf().ReadHits() : cgroup::Hits{},
                        .too_much_output = pumps[0].too_much() || pumps[1].too_much(),
                        .out_of_memory = out_of_memory};
  if (vanished && outside.group.memory) {
    // The kernel took the whole group, igloo-init with it.
    report = wire::Ended{.nonce = nonce,
                         .kind = wire::EndKind::kSignalled,
                         .cause = wire::EndCause::kMemory,
                         .status = SIGKILL};
    failure.reset();
  }
  if (failure) return std::unexpected(*std::move(failure));
  if (const auto* refused = std::get_if<wire::Refused>(&*report)) {
    return std::unexpected(backend::ExplainRefusal(*refused, plan.payload));
  }
  const auto& ended = std::get<wire::Ended>(*report);
  // What was handed out came before the report, but may not have been taken yet.
  if (sandbox->setup_fd() >= 0) (void)sandbox->ReadSetup();
  RunResult result;
  result.handed_out = std::move(sandbox->handed_out);
  result.verdict = VerdictOf(ended, outside, plan.payload);
  result.exit_code = ExitCodeOf(ended, result.verdict);
  result.signal = ended.kind == wire::EndKind::kSignalled ? static_cast<int>(ended.status) : 0;
  result.output = pumps[0].TakeCaptured();
  result.error = pumps[1].TakeCaptured();
  result.usage = ended;
  result.timeline = sandbox->timeline;
  result.reported_micros = reported_micros;
  return result;
}

void Run::State::CloseAll() {
  boost::system::error_code ignored;
  for (stream_descriptor* each : {&control, &setup}) {
    if (each->is_open()) each->close(ignored);
  }
  feed.Close();
  for (OutputPump& each : pumps) each.Close();
}

Run::Run(asio::io_context& loop, const sandbox::Plan& plan, backend::Backend& backend, RunIo io)
    : state_(std::make_shared<State>(loop, plan, backend, std::move(io))) {}

Run::~Run() { state_->CloseAll(); }

asio::awaitable<Result<RunResult>> Run::Execute() {
  const std::shared_ptr<State> state = state_;
  if (auto started = state->Start(); !started) {
    co_return std::unexpected(std::move(started).error());
  }
  const auto executor = co_await asio::this_coro::executor;
  asio::co_spawn(executor, state->SendStart(), asio::detached);
  asio::co_spawn(executor, state->WatchSetup(), asio::detached);
  asio::co_spawn(executor, state->WatchControl(), asio::detached);
  for (std::size_t index = 0; index < state->pumps.size(); ++index) {
    if (!state->pumps[index].is_open()) continue;
    asio::co_spawn(executor, state->WatchOutput(index), asio::detached);
  }
  if (state->feed.is_open()) asio::co_spawn(executor, state->FeedInput(), asio::detached);
  co_await state->WaitForEnd();
  auto result = state->Finish();
  state->CloseAll();
  co_return result;
}

void Run::Interrupt() { state_->Tell(wire::ToInit::kInterrupt); }

void Run::Kill() {
  state_->Tell(wire::ToInit::kKill);
  state_->abandoned = true;
  state_->changed.cancel();
}

}  // namespace igloo::session
