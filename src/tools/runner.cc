#include "tools/runner.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "backend/bubblewrap/bubblewrap.h"
#include "base/clock.h"
#include "base/scope_exit.h"
#include "base/text.h"
#include "mcp/pch.h"
#include "session/device.h"
#include "session/prepare.h"
#include "session/workspace.h"

namespace igloo::tools {

namespace asio = boost::asio;

namespace {
constexpr auto kAfterAnswer = std::chrono::milliseconds(1);
}  // namespace

asio::awaitable<session::Leftovers> ReadInSlices(int directory,
                                                 const std::vector<environment::GivenFile>& given,
                                                 session::LeftLimits limits,
                                                 session::Stamps* stamps) {
  session::LeftoversReader reader(directory, given, limits, stamps);
  const auto executor = co_await asio::this_coro::executor;
  while (reader.Step()) co_await asio::post(executor, asio::use_awaitable);
  co_return reader.Take();
}

Finished FinishedFrom(session::CallResult result) {
  Finished finished{
      .looked_for_files = true, .value = std::move(result.value), .parts = std::move(result.parts)};
  session::RunResult& run = finished.run;
  run.verdict = result.verdict;
  run.exit_code = result.exit_code;
  run.signal = result.signal;
  run.output = std::move(result.output);
  run.error = std::move(result.error);
  run.usage.wall_micros = static_cast<std::uint64_t>(result.wall_micros);
  run.usage.cpu_micros = result.cpu_micros;
  run.usage.peak_kib = result.peak_kib;
  run.refused = std::move(result.refused);
  NoteRefusals(finished);
  return finished;
}

bool CouldHaveRawSockets(const sandbox::Network& network) {
  const auto* connected = std::get_if<sandbox::ConnectedNetwork>(&network);
  return connected != nullptr && connected->tier == "internet" && !connected->raw_sockets;
}

std::string RawSocketsHint(std::string_view environment, const session::RunResult& run) {
  if (!run.error.kept().contains("Operation not permitted")) return {};
  return fmt::format(
      "if that was a raw socket (tcpdump, nmap -sS): they need raw_sockets = true in "
      "[environments.{}] of the user's configuration",
      environment);
}

void NoteRefusals(Finished& finished) {
  const auto remedy = [](const session::Refusal& refusal) -> std::string {
    if (refusal.rule.empty()) return {};
    const std::string rule = Printable(refusal.rule);
    // A sandbox without a name of its own is gone by now.
    return "; the user can allow it: " +
           (session::ParseRunName(refusal.sandbox)
                ? "'" + rule + "' in 'allow' of the environment"
                : "igloo net allow " + ShellQuote(Printable(refusal.sandbox)) + " '" + rule + "'");
  };
  std::ranges::move(Sentences(finished.run.refused, remedy), std::back_inserter(finished.notes));
}

const drivers::Driver* DriverOf(const config::Configured& where) {
  if (where.backend != config::Backend::kJail) return nullptr;
  if (!where.environment.language.empty()) return drivers::FindDriver(where.environment.language);
  const bool runs_files =
      !where.environment.code_file.empty() && !where.environment.interpreter.empty();
  return runs_files ? drivers::FindDriver("command") : nullptr;
}

namespace {

session::Proxy::Options ProxyOf(const backend::jail::Programs& programs,
                                const Runner::Options& options) {
  session::Proxy::Options proxy = options.proxy;
  proxy.program = programs.proxy;
  proxy.note = options.note;
  return proxy;
}

}  // namespace

Runner::Runner(asio::io_context& loop, backend::jail::Programs programs, Options options)
    : loop_(loop),
      programs_(programs),
      options_(std::move(options)),
      groups_(cgroup::Find()),
      jail_(std::move(programs), backend::jail::Mode::kPrepared),
      proxy_(loop, ProxyOf(programs_, options_)),
      pool_(loop, jail_, groups_,
            {.roomy = {}, .note = options_.note, .copier = programs_.copier, .proxy = &proxy_}),
      turns_(loop, options_.at_once) {
  jail_.set_note(options_.note);
}

Runner::~Runner() = default;

void Runner::Close() {
  turns_.Close();
  pool_.Close();
  proxy_.Close();
}

Result<backend::Backend*> Runner::BackendFor(config::Backend kind) {
  if (kind == config::Backend::kJail) return &jail_;
  if (bubblewrap_ == nullptr) {
    IGLOO_ASSIGN(bubblewrap_, backend::bubblewrap::Make(programs_.init));
  }
  return bubblewrap_.get();
}

Result<session::RunIo> Runner::IoFor(const Order& order, const sandbox::Plan& plan,
                                     std::function<void(std::string_view)> heard) {
  const std::uint64_t kept = order.where.environment.room.output_bytes;
  session::RunIo io{.capture_limit = kept,
                    .keep = session::Keep::kFirstAndLast,
                    .heard = std::move(heard),
                    .output_limit = kEndlessOutput * kept,
                    .note = options_.note};
  if (order.request.network.connected()) {
    proxy_.set_resolver(order.where.resolver);
    io.connection = std::make_shared<session::Connection>(loop_, proxy_, order.request.network);
    SayIfMissing(plan.network, order.request.resolver);
  }
  IGLOO_ASSIGN(io.group, session::TakeGroup(groups_, plan));
  return io;
}

void Runner::SayIfMissing(const sandbox::Network& network, std::string_view resolver) {
  if (said_missing_ || !options_.note) return;
  const std::string missing = session::MissingDevice(network, resolver);
  said_missing_ = !missing.empty();
  if (said_missing_) options_.note(missing);
}

Result<std::unique_ptr<session::OpenInterpreter>> Runner::Open(const Order& order,
                                                               session::Pool::Origin origin) {
  IGLOO_ASSIGN(auto recipe, recipes_.For(order, MonotonicMicros()));
  if (order.request.network.connected()) {
    proxy_.set_resolver(order.where.resolver);
    SayIfMissing(recipe->plan.network, order.request.resolver);
  }
  return pool_.Take(std::move(recipe), origin);
}

asio::awaitable<Result<Finished>> Runner::Execute(Order order, mcp::Cancellation cancellation,
                                                  Listener listener) {
  const std::int64_t came = MonotonicMicros();
  co_await turns_.Take(cancellation);
  const ScopeExit leaving([this] { turns_.GiveBack(); });
  if (cancellation.requested()) co_return Fail(Errc::kTimeout, "the call was cancelled");
  const std::int64_t began = MonotonicMicros();
  if (listener.began) listener.began();
  order.driver = DriverOf(order.where);
  const auto* code = std::get_if<environment::Code>(&order.request.what);
  // A driver's protocol is text.
  const bool ready = order.driver != nullptr && order.driver->once && code != nullptr &&
                     code->text.find('\0') == std::string::npos;
  auto finished = ready
                      ? co_await ExecuteReady(std::move(order), cancellation, std::move(listener))
                      : co_await ExecuteFresh(std::move(order), cancellation, std::move(listener));
  if (finished) finished->queued_micros = began - came;
  co_return finished;
}

asio::awaitable<Result<Finished>> Runner::ExecuteReady(Order order, mcp::Cancellation cancellation,
                                                       Listener listener) {
  auto opened = Open(order, session::Pool::Origin::kFastest);
  if (!opened) co_return std::unexpected(std::move(opened).error());
  std::unique_ptr<session::OpenInterpreter> open = *std::move(opened);
  const auto hook = cancellation.OnRequest([&] { open->interpreter->Kill(); });
  if (auto started = co_await pool_.Start(*open); !started) {
    co_return std::unexpected(std::move(started).error());
  }
  if (cancellation.requested()) co_return Fail(Errc::kTimeout, "the call was cancelled");
  session::Interpreter& interpreter = *open->interpreter;
  session::Stamps stamps;
  for (const environment::GivenFile& file : order.request.files) {
    auto stamp = session::WriteBelow(interpreter.workspace(), file);
    if (!stamp) co_return std::unexpected(std::move(stamp).error());
    stamps[file.path] = *stamp;
  }
  const std::uint64_t time_ms =
      order.request.time_ms.value_or(order.where.environment.limits.time_ms);
  std::string& code = std::get<environment::Code>(order.request.what).text;
  const std::string_view way = drivers::WayOf(*order.driver, code);
  session::Interpreter::Call call{.code = std::move(code),
                                  .time_ms = time_ms,
                                  .manner = session::Manner::kOnce,
                                  .way = way,
                                  .heard = std::move(listener.heard)};
  auto result = co_await interpreter.Execute(std::move(call));
  if (!result) co_return std::unexpected(std::move(result).error());
  Finished finished = FinishedFrom(*std::move(result));
  finished.time_limit_ms = time_ms;
  finished.memory_limit_bytes = open->recipe->plan.payload.memory_bytes;
  if (!cancellation.requested()) {
    const std::vector<environment::GivenFile> none;
    finished.left = co_await ReadInSlices(interpreter.workspace(), none, options_.left, &stamps);
  }
  // Whoever is answered may want the same ports next.
  if (open->connection) open->connection->Unpublish();
  // Whoever waits for the result is answered first, and may need this processor to hear it: taking
  // a sandbox down takes its time.
  auto later = std::make_shared<asio::steady_timer>(loop_, kAfterAnswer);
  later->async_wait([later, gone = std::move(open)](boost::system::error_code) {});
  co_return finished;
}

asio::awaitable<Result<Finished>> Runner::ExecuteFresh(Order order, mcp::Cancellation cancellation,
                                                       Listener listener) {
  const auto backend = BackendFor(order.where.backend);
  if (!backend) co_return std::unexpected(backend.error());
  // Bubblewrap has no way to hand a directory out.
  order.request.hand_out = order.where.backend == config::Backend::kJail;
  auto plan = session::PlanFor(order.where.environment, order.request);
  if (!plan) co_return std::unexpected(std::move(plan).error());
  auto io = IoFor(order, *plan, std::move(listener.heard));
  if (!io) co_return std::unexpected(std::move(io).error());

  session::Run run(loop_, *plan, **backend, *std::move(io));
  const auto hook = cancellation.OnRequest([&] { run.Kill(); });
  auto result = co_await run.Execute();
  if (!result) co_return std::unexpected(std::move(result).error());

  Finished finished{.run = *std::move(result),
                    .looked_for_files = order.request.hand_out,
                    .time_limit_ms = plan->payload.time_ms,
                    .memory_limit_bytes = plan->payload.memory_bytes};
  NoteRefusals(finished);
  std::ranges::copy(finished.run.put_right, std::back_inserter(finished.notes));
  if (!finished.run.handed_out.empty() && !cancellation.requested()) {
    finished.left = co_await ReadInSlices(finished.run.handed_out.front().get(),
                                          order.request.files, options_.left);
  }
  finished.run.handed_out.clear();
  co_return finished;
}

}  // namespace igloo::tools
