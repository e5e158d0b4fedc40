#include "service/runner.h"

#include <algorithm>
#include <iterator>

#include "base/clock.h"
#include "base/scope_exit.h"
#include "base/text.h"
#include "environment/interpreter.h"
#include "session/asio.h"
#include "session/files/workspace.h"
#include "session/network/device.h"
#include "session/parts.h"
#include "session/prepare.h"

namespace igloo::service {

namespace asio = boost::asio;

asio::awaitable<session::Leftovers> ReadInSlices(int directory,
                                                 const std::vector<environment::GivenFile>& given,
                                                 session::LeftLimits limits,
                                                 session::Stamps* stamps) {
  session::LeftoversReader reader(directory, given, limits, stamps);
  const auto executor = co_await asio::this_coro::executor;
  while (reader.Step()) co_await asio::post(executor, asio::use_awaitable);
  co_return reader.Take();
}

const language::Driver* DriverOf(const config::Configured& where) {
  if (!where.backend->can.sessions) return nullptr;
  if (const language::Driver* own = language::FindDriver(where.environment.language)) return own;
  const bool runs_files =
      !where.environment.code_file.empty() && !where.environment.interpreter.empty();
  return runs_files ? &language::CommandDriver() : nullptr;
}

namespace {

/// Of a network as a run asks for it.
bool CouldHaveRawSockets(const network::Wanted& wanted) {
  return wanted.level == network::Level::kInternet && !wanted.raw_sockets;
}

session::Proxy::Options ProxyOf(const backend::Programs& programs, const Runner::Options& options) {
  session::Proxy::Options proxy = options.proxy;
  proxy.program = programs.proxy;
  proxy.note = options.note;
  return proxy;
}

}  // namespace

Runner::Runner(asio::io_context& loop, backend::Programs programs, Options options)
    : loop_(loop),
      programs_(std::move(programs)),
      options_(std::move(options)),
      groups_(cgroup::Find()),
      proxy_(loop, ProxyOf(programs_, options_)),
      turns_(loop, options_.at_once) {}

Runner::~Runner() = default;

void Runner::Close() {
  turns_.Close();
  for (auto& [wall, in_use] : walls_in_use_) in_use.pool->Close();
  proxy_.Close();
}

Result<Runner::WallInUse*> Runner::WallFor(const wall::Wall& wall, const std::string& kernel) {
  if (const auto found = walls_in_use_.find(&wall); found != walls_in_use_.end())
    return &found->second;
  backend::Options options{
      .programs = programs_, .mode = backend::Mode::kPrepared, .note = options_.note};
  options.programs.kernel = kernel;
  IGLOO_ASSIGN(auto made, backend::Make(wall, std::move(options), options_.factories));
  auto pool = std::make_unique<session::Pool>(
      loop_, *made, groups_,
      session::Pool::Options{.roomy = {},
                             .note = options_.note,
                             // igloo-copy works on processes of the host's kernel.
                             .copier = wall.can.own_kernel ? std::string() : programs_.copier,
                             .proxy = &proxy_});
  WallInUse in_use{.backend = std::move(made), .pool = std::move(pool)};
  return &walls_in_use_.emplace(&wall, std::move(in_use)).first->second;
}

Result<backend::HostIds> Runner::expected_ids() {
  IGLOO_ASSIGN(const WallInUse* const usual, WallFor(wall::kDefault));
  return usual->backend->expected_ids();
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
    SayIfMissing(plan.network, order);
  }
  SayIfUnlimited(plan);
  IGLOO_ASSIGN(io.group, session::TakeGroup(groups_, plan));
  return io;
}

void Runner::SayIfUnlimited(const sandbox::Plan& plan) {
  if (said_unlimited_ || !options_.note) return;
  const std::string unlimited = session::UnlimitedCpus(groups_.found(), plan);
  said_unlimited_ = !unlimited.empty();
  if (said_unlimited_) options_.note(unlimited);
}

void Runner::SayIfMissing(const sandbox::Network& network, const Order& order) {
  if (said_missing_ || !options_.note) return;
  const std::string missing =
      session::MissingDevice(network, order.request.resolver, *order.where.backend);
  said_missing_ = !missing.empty();
  if (said_missing_) options_.note(missing);
}

Result<std::unique_ptr<session::OpenInterpreter>> Runner::Open(const Order& order,
                                                               session::Pool::Origin origin) {
  IGLOO_ASSIGN(auto recipe, RecipeFor(order));
  IGLOO_ASSIGN(const WallInUse* const in_use, WallFor(*order.where.backend, order.where.kernel));
  return in_use->pool->Take(std::move(recipe), origin);
}

Result<std::shared_ptr<const session::Recipe>> Runner::RecipeFor(const Order& order) {
  IGLOO_ASSIGN(auto recipe, recipes_.For(order, MonotonicMicros()));
  if (order.request.network.connected()) {
    proxy_.set_resolver(order.where.resolver);
    SayIfMissing(recipe->plan.network, order);
  }
  SayIfUnlimited(recipe->plan);
  return recipe;
}

asio::awaitable<Result<Finished>> Runner::Execute(Order order, Cancellation cancellation,
                                                  Listener listener) {
  const std::int64_t came = MonotonicMicros();
  co_await turns_.Take(cancellation);
  const ScopeExit leaving([this] { turns_.GiveBack(); });
  if (cancellation.requested()) co_return Fail(Errc::kTimeout, "the call was cancelled");
  const std::int64_t began = MonotonicMicros();
  if (listener.began) listener.began();
  const bool could_have_raw_sockets = CouldHaveRawSockets(order.request.network);
  const std::string environment = order.where.environment.name;
  std::optional<Result<Finished>> finished = co_await ExecuteWaiting(order, cancellation, listener);
  // Nothing of it has begun, so another sandbox does as well.
  if (!finished) finished = co_await ExecuteFresh(std::move(order), cancellation, listener);
  if (*finished) {
    (*finished)->queued_micros = began - came;
    if (could_have_raw_sockets) NoteRawSockets(environment, **finished);
  }
  co_return *std::move(finished);
}

asio::awaitable<std::optional<Result<Finished>>> Runner::ExecuteWaiting(const Order& order,
                                                                        Cancellation cancellation,
                                                                        const Listener& listener) {
  const auto* code = std::get_if<environment::Code>(&order.request.what);
  const config::Configured& where = order.where;
  // An interpreter may read files of its user's when it starts: those that come with the code have
  // to be there then.
  const bool can_wait = code != nullptr && order.request.files.empty() && where.warm > 0 &&
                        where.backend->can.waiting_programs &&
                        environment::WaitsForFile(where.environment);
  if (!can_wait) co_return std::nullopt;
  auto recipe = RecipeFor(order);
  const auto in_use = WallFor(*where.backend, where.kernel);
  // Whoever plans it for itself says what is wrong.
  if (!recipe || !in_use) co_return std::nullopt;
  const std::unique_ptr<session::OpenInterpreter> open =
      (*in_use)->pool->TakeProgram(*std::move(recipe));
  if (open == nullptr) co_return std::nullopt;
  session::Run& program = *open->program;
  const auto hook = cancellation.OnRequest([&] { program.Kill(); });
  if (open->connection) {
    auto published = open->connection->Publish();
    if (!published) co_return std::unexpected(std::move(published).error());
  }
  session::Task task{.code = code->text,
                     .time_ms = order.request.time_ms.value_or(where.environment.limits.time_ms),
                     .heard = listener.heard};
  const std::uint64_t time_ms = task.time_ms;
  auto result = co_await program.Go(std::move(task));
  if (program.never_began()) co_return std::nullopt;
  if (!result) co_return std::unexpected(std::move(result).error());
  Finished finished{.run = *std::move(result),
                    .looked_for_files = true,
                    .backend = where.backend->name,
                    .time_limit_ms = time_ms,
                    .memory_limit_bytes = open->recipe->plan.payload.memory_bytes};
  environment::RunRequest request = order.request;
  request.hand_out = true;
  co_await Collect(where.environment, request, cancellation, finished);
  co_return std::move(finished);
}

asio::awaitable<void> Runner::Collect(const environment::Environment& where,
                                      const environment::RunRequest& request,
                                      Cancellation cancellation, Finished& finished) {
  NoteRefusals(finished);
  std::ranges::copy(finished.run.put_right, std::back_inserter(finished.notes));
  const std::vector<UniqueFd> directories = std::exchange(finished.run.handed_out, {});
  if (directories.empty() || cancellation.requested()) co_return;
  finished.left = co_await ReadInSlices(directories[0].get(), request.files, options_.left);
  if (!environment::DisplaysParts(where, request) || directories.size() < 2) co_return;
  const UniqueFd displayed = session::OpenDisplayed(directories[1].get());
  if (!displayed) co_return;
  const std::vector<environment::GivenFile> none;
  auto files =
      co_await ReadInSlices(displayed.get(), none, session::DisplayLimits(where.room.output_bytes));
  if (!files.complete) {
    finished.notes.emplace_back("some of what the code displayed is left out: it was too much");
  }
  finished.parts = session::PartsFrom(std::move(files));
}

asio::awaitable<Result<session::RunResult>> Runner::ExecutePlan(const Order& order,
                                                                const sandbox::Plan& plan,
                                                                backend::Backend& backend,
                                                                Cancellation cancellation,
                                                                const Listener& listener) {
  for (bool again = false;; again = true) {
    auto io = IoFor(order, plan, listener.heard);
    if (!io) co_return std::unexpected(std::move(io).error());
    session::Run run(loop_, plan, backend, *std::move(io));
    const auto hook = cancellation.OnRequest([&] { run.Kill(); });
    auto result = co_await run.Execute();
    // A launcher that somebody killed; the next request starts another one. SECURITY: not every
    // wall tells whether there was a sandbox; what may have begun is never begun again.
    const bool can_tell = order.where.backend->can.tells_start;
    if (result || again || !can_tell || !run.never_began() || cancellation.requested()) {
      co_return result;
    }
  }
}

asio::awaitable<Result<Finished>> Runner::ExecuteFresh(Order order, Cancellation cancellation,
                                                       const Listener& listener) {
  const wall::Wall& wall = *order.where.backend;
  const auto in_use = WallFor(wall, order.where.kernel);
  if (!in_use) co_return std::unexpected(in_use.error());
  order.request.hand_out = wall.can.hands_out;
  auto plan = session::PlanFor(order.where.environment, order.request);
  if (!plan) co_return std::unexpected(std::move(plan).error());
  auto result = co_await ExecutePlan(order, *plan, *(*in_use)->backend, cancellation, listener);
  if (!result) co_return std::unexpected(std::move(result).error());

  Finished finished{.run = *std::move(result),
                    .looked_for_files = order.request.hand_out,
                    .backend = wall.name,
                    .time_limit_ms = plan->payload.time_ms,
                    .memory_limit_bytes = plan->payload.memory_bytes};
  co_await Collect(order.where.environment, order.request, cancellation, finished);
  co_return finished;
}

}  // namespace igloo::service
