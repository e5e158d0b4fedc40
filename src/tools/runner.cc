#include "tools/runner.h"

#include "backend/bubblewrap/bubblewrap.h"
#include "base/clock.h"
#include "base/scope_exit.h"
#include "mcp/pch.h"
#include "session/prepare.h"

namespace igloo::tools {

namespace asio = boost::asio;

namespace {

/// A program that writes this many times what is kept is ended: nobody will read it.
constexpr std::uint64_t kEndlessOutput = 128;

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

Runner::Runner(asio::io_context& loop, backend::jail::Programs programs, Options options)
    : loop_(loop),
      programs_(programs),
      options_(options),
      groups_(cgroup::Find()),
      jail_(std::move(programs), backend::jail::Mode::kPrepared),
      turns_(loop, options.at_once) {}

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
                    .output_limit = kEndlessOutput * kept};
  IGLOO_ASSIGN(io.group, session::TakeGroup(groups_, plan));
  return io;
}

Result<std::unique_ptr<OpenInterpreter>> Runner::Open(const Order& order) {
  IGLOO_ASSIGN(backend::Backend * backend, BackendFor(order.where.backend));
  auto open = std::make_unique<OpenInterpreter>();
  IGLOO_ASSIGN(open->plan, session::PlanFor(order.where.environment, order.request));
  const std::uint64_t kept = order.where.environment.room.output_bytes;
  session::InterpreterOptions options{.capture_limit = kept, .output_limit = kEndlessOutput * kept};
  IGLOO_ASSIGN(options.group, session::TakeGroup(groups_, open->plan));
  open->interpreter =
      std::make_unique<session::Interpreter>(loop_, open->plan, *backend, std::move(options));
  return open;
}

asio::awaitable<Result<Finished>> Runner::Execute(Order order, mcp::Cancellation cancellation,
                                                  Listener listener) {
  const std::int64_t came = MonotonicMicros();
  co_await turns_.Take(cancellation);
  const ScopeExit leaving([this] { turns_.GiveBack(); });
  if (cancellation.requested()) co_return Fail(Errc::kTimeout, "the call was cancelled");
  const std::int64_t began = MonotonicMicros();
  if (listener.began) listener.began();

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
                    .memory_limit_bytes = plan->payload.memory_bytes,
                    .queued_micros = began - came};
  if (!finished.run.handed_out.empty() && !cancellation.requested()) {
    finished.left = co_await ReadInSlices(finished.run.handed_out.front().get(),
                                          order.request.files, options_.left);
  }
  finished.run.handed_out.clear();
  co_return finished;
}

}  // namespace igloo::tools
