#include "session/warm/pool.h"

#include <algorithm>
#include <deque>
#include <fstream>

#include "session/asio.h"
#include "session/prepare.h"

namespace igloo::session {

namespace asio = boost::asio;

namespace {

/// Whoever took one is answered first.
constexpr auto kAfter = std::chrono::milliseconds(1);
constexpr std::size_t kAtOnce = 2;
constexpr auto kRestoreLimit = std::chrono::seconds(3), kLoadLimit = std::chrono::seconds(10);
constexpr std::size_t kMostPools = 16;
/// One that cannot be made so often is not tried again.
constexpr unsigned kMostFailures = 3;

}  // namespace

struct Pool::RecipePool {
  explicit RecipePool(std::shared_ptr<const Recipe> of) : recipe(std::move(of)) {}

  std::shared_ptr<const Recipe> recipe;
  std::deque<std::unique_ptr<OpenInterpreter>> waiting = {};
  std::size_t wanted = 0;  ///< how many should wait
  std::size_t making = 0;
  bool due = false;     ///< to be refilled soon
  bool used = false;    ///< since the last look
  bool paused = false;  ///< the last one could not be made: none is, until somebody asks
  bool closed = false;
  std::shared_ptr<Checkpoint> checkpoint = {};  // shared with interpreters that are made of it
  unsigned failures = 0;

  /// Whether one more is to be made.
  bool lacks() const {
    return !closed && !paused && making < kAtOnce && waiting.size() + making < wanted;
  }
};

Pool::Pool(asio::io_context& loop, backend::Backend& backend, cgroup::Groups& groups,
           Options options)
    : loop_(loop), backend_(backend), groups_(groups), options_(std::move(options)) {
  if (!options_.roomy) options_.roomy = HasMemoryToSpare;
}

Pool::~Pool() { Close(); }

std::shared_ptr<Pool::RecipePool> Pool::PoolFor(std::shared_ptr<const Recipe> recipe) {
  auto found = std::ranges::find_if(pools_, [&](const auto& s) { return s->recipe == recipe; });
  if (found == pools_.end()) {
    found = std::ranges::find_if(pools_, [&](const auto& s) { return *s->recipe == *recipe; });
  }
  if (found != pools_.end()) {
    std::rotate(found, found + 1, pools_.end());
    return pools_.back();
  }
  // The one that was used least recently: its configuration may be of yesterday.
  if (pools_.size() >= kMostPools) {
    pools_.front()->closed = true;
    pools_.erase(pools_.begin());
  }
  pools_.push_back(std::make_shared<RecipePool>(std::move(recipe)));
  if (clock_ == nullptr) {
    clock_ = std::make_unique<asio::steady_timer>(loop_);
    asio::co_spawn(loop_, Watch(), asio::detached);
  }
  return pools_.back();
}

std::unique_ptr<OpenInterpreter> Pool::TakeFrom(
    const std::shared_ptr<RecipePool>& pool,
    const std::function<bool(const OpenInterpreter&)>& unwanted) {
  pool->used = true;
  pool->paused = false;
  while (!pool->waiting.empty()) {
    auto first = std::move(pool->waiting.front());
    pool->waiting.pop_front();
    // Somebody on this machine may have killed it.
    if (!first->fresh()) continue;
    RefillSoon(pool);
    if (unwanted(*first)) continue;
    return first;
  }
  pool->wanted = std::min(pool->recipe->most, std::max<std::size_t>(1, pool->wanted * 2));
  RefillSoon(pool);
  return nullptr;
}

std::unique_ptr<OpenInterpreter> Pool::TakeProgram(std::shared_ptr<const Recipe> recipe) {
  return TakeFrom(PoolFor(std::move(recipe)), [](const OpenInterpreter&) { return false; });
}

Result<std::unique_ptr<OpenInterpreter>> Pool::Take(std::shared_ptr<const Recipe> wanted,
                                                    Origin origin) {
  const std::shared_ptr<RecipePool> pool = PoolFor(std::move(wanted));
  const bool copied = origin == Origin::kCheckpoint && pool->recipe->checkpoint;
  const auto started = [&](const OpenInterpreter& one) { return copied && !one.checkpoint; };
  if (auto first = TakeFrom(pool, started)) return first;
  if (origin == Origin::kCheckpoint) KeepCheckpoint(*pool);
  const bool restored = pool->checkpoint && pool->checkpoint->usable() &&
                        (origin == Origin::kCheckpoint || pool->checkpoint->ready());
  return Make(pool->recipe, restored ? pool->checkpoint : nullptr);
}

asio::awaitable<Result<void>> Pool::Start(OpenInterpreter& open) {
  Result<void> started;
  if (!open.started) started = co_await open.Begin();
  if (!started && open.checkpoint) {
    Note(started.error().what);
    DropCheckpoint(open.checkpoint);
    auto plain = Make(open.recipe, nullptr);
    if (!plain) co_return std::unexpected(std::move(plain).error());
    open = std::move(**plain);
    started = co_await open.Begin();
  }
  open.started = started.has_value();
  // Not before: of those that wait, only one could have the ports.
  if (started && open.connection) started = open.connection->Publish();
  co_return started;
}

Result<std::unique_ptr<OpenInterpreter>> Pool::Sibling(const OpenInterpreter& of) {
  const auto alike = [&](const auto& each) {
    return each->checkpoint == of.checkpoint && each->fresh();
  };
  for (const auto& pool : pools_) {
    if (*pool->recipe != *of.recipe) continue;
    const auto found = std::ranges::find_if(pool->waiting, alike);
    if (found == pool->waiting.end()) continue;
    auto first = std::move(*found);
    pool->waiting.erase(found);
    pool->used = true;
    RefillSoon(pool);
    return first;
  }
  return Make(of.recipe, of.checkpoint);
}

Result<std::unique_ptr<OpenInterpreter>> Pool::Make(const std::shared_ptr<const Recipe>& recipe,
                                                    const std::shared_ptr<Checkpoint>& checkpoint) {
  auto open = std::make_unique<OpenInterpreter>();
  open->recipe = recipe;
  open->checkpoint = checkpoint;
  IGLOO_ASSIGN(open->connection, Connect(*recipe));
  if (recipe->awaits_code) {
    IGLOO_ASSIGN(open->program, MakeProgram(*open));
    return open;
  }
  InterpreterOptions options{.capture_limit = recipe->capture_limit,
                             .output_limit = recipe->output_limit,
                             .checkpoint = checkpoint,
                             .copier = options_.copier,
                             .note = options_.note};
  // Restoring takes milliseconds; who waits for it longer is better off without.
  if (checkpoint) options.start_limit = checkpoint->ready() ? kRestoreLimit : kLoadLimit;
  options.start_limit += std::chrono::milliseconds(backend_.MakingMs());
  options.connection = open->connection;
  IGLOO_ASSIGN(options.group, TakeGroup(groups_, recipe->plan, cgroup::OutOfMemory::kEndsOne));
  open->interpreter =
      std::make_unique<Interpreter>(loop_, recipe->plan, backend_, std::move(options));
  return open;
}

Result<std::unique_ptr<Run>> Pool::MakeProgram(const OpenInterpreter& of) {
  const Recipe& recipe = *of.recipe;
  RunIo io{.capture_limit = recipe.capture_limit,
           .keep = Keep::kFirstAndLast,
           .output_limit = recipe.output_limit,
           .connection = of.connection,
           .note = options_.note};
  IGLOO_ASSIGN(io.group, TakeGroup(groups_, recipe.plan));
  return std::make_unique<Run>(loop_, recipe.plan, backend_, std::move(io));
}

Result<std::shared_ptr<Connection>> Pool::Connect(const Recipe& recipe) {
  if (!recipe.network.connected()) return nullptr;
  if (options_.proxy == nullptr) {
    return Fail(Errc::kFailedPrecondition, "interpreters with a network cannot be made here");
  }
  return std::make_shared<Connection>(loop_, *options_.proxy, recipe.network);
}

void Pool::RefillSoon(const std::shared_ptr<RecipePool>& pool) {
  if (!pool->lacks() || std::exchange(pool->due, true)) return;
  if (soon_ == nullptr) soon_ = std::make_shared<asio::steady_timer>(loop_);
  // Set when whoever takes an interpreter has given it its code: that takes a tenth of the time of
  // a small run. And no coroutine of its own: beginning one takes as long.
  asio::post(loop_, [this, alive = std::weak_ptr(soon_)] {
    if (!alive.expired()) AwaitDue();
  });
}

void Pool::AwaitDue() {
  if (soon_->expiry() > std::chrono::steady_clock::now()) return;
  soon_->expires_after(kAfter);
  soon_->async_wait([this](boost::system::error_code error) {
    if (error) return;
    for (const auto& each : pools_) {
      if (std::exchange(each->due, false)) Refill(each);
    }
  });
}

void Pool::Refill(const std::shared_ptr<RecipePool>& pool) {
  while (pool->lacks()) {
    ++pool->making;
    asio::co_spawn(loop_, Fill(pool), asio::detached);
  }
}

void Pool::KeepCheckpoint(RecipePool& pool) {
  const Recipe& recipe = *pool.recipe;
  if (pool.checkpoint) {
    for (const std::string& complaint : pool.checkpoint->TakeComplaints()) Note(complaint);
    if (pool.checkpoint->usable()) return;
    pool.checkpoint.reset();
    ++pool.failures;
  }
  if (!recipe.checkpoint || options_.copier.empty() || pool.failures >= kMostFailures) return;
  std::erase_if(known_, [](const Known& each) { return each.checkpoint.expired(); });
  for (const Known& each : known_) {
    if (*each.recipe != recipe) continue;
    pool.checkpoint = each.checkpoint.lock();
    if (pool.checkpoint && pool.checkpoint->usable()) return;
  }
  auto connection = Connect(recipe);
  auto group = TakeGroup(groups_, recipe.plan);
  if (!connection || !group) {
    ++pool.failures;
    return Note((connection ? group.error() : connection.error()).what);
  }
  pool.checkpoint = Checkpoint::Make(loop_, backend_, recipe.plan,
                                     {.copier = options_.copier,
                                      .preload = recipe.preload,
                                      .group = *std::move(group),
                                      .connection = *std::move(connection)});
  known_.push_back({pool.recipe, pool.checkpoint});
}

void Pool::DropCheckpoint(const std::shared_ptr<Checkpoint>& checkpoint) {
  std::erase_if(known_, [&](const Known& each) { return each.checkpoint.lock() == checkpoint; });
  for (const auto& each : pools_) {
    if (each->checkpoint != checkpoint) continue;
    each->checkpoint.reset();
    ++each->failures;
  }
}

asio::awaitable<void> Pool::Fill(std::shared_ptr<RecipePool> pool) {
  // Here and not where one is taken: looking takes as long as small code does.
  if (!options_.roomy()) pool->paused = true;
  if (!pool->closed && !pool->paused) {
    KeepCheckpoint(*pool);
    auto made = Make(pool->recipe, pool->checkpoint);
    auto started = made ? co_await (*made)->Begin() : Result<void>(std::unexpected(made.error()));
    if (!started && !pool->closed) {
      pool->paused = true;
      if (pool->checkpoint) DropCheckpoint(pool->checkpoint);
      Note("no interpreter could be made ready ahead of its use: " + started.error().what);
    } else if (!pool->closed) {
      (*made)->started = true;
      pool->waiting.push_back(*std::move(made));
    }
  }
  --pool->making;
  RefillSoon(pool);
}

std::size_t Pool::waiting() const {
  std::size_t count = 0;
  for (const auto& each : pools_) count += each->waiting.size();
  return count;
}

void Pool::Shrink() {
  for (const auto& each : pools_) {
    if (!std::exchange(each->used, false)) each->wanted /= 2;
    if (!options_.roomy()) each->wanted = 0;
    while (each->waiting.size() > each->wanted) each->waiting.pop_back();
    if (each->wanted == 0) each->checkpoint.reset();
    each->closed = each->wanted == 0 && each->making == 0;
  }
  std::erase_if(pools_, [](const auto& each) { return each->closed; });
}

asio::awaitable<void> Pool::Watch() {
  while (!pools_.empty()) {
    clock_->expires_after(options_.shrink_after);
    boost::system::error_code error;
    auto token = asio::redirect_error(asio::use_awaitable, error);
    co_await clock_->async_wait(token);
    if (error) co_return;
    Shrink();
  }
  clock_.reset();
}

void Pool::Note(std::string_view text) const {
  if (options_.note) options_.note(text);
}

void Pool::Close() {
  for (const auto& each : pools_) {
    each->closed = true;
    each->waiting.clear();
    each->checkpoint.reset();
  }
  pools_.clear();
  clock_.reset();
  soon_.reset();
}

bool HasMemoryToSpare() {
  std::ifstream file("/proc/meminfo");
  std::uint64_t total = 0;
  std::uint64_t available = 0;
  for (std::string name, unit; file >> name;) {
    std::uint64_t value = 0;
    if (!(file >> value)) break;
    if (name == "MemTotal:") total = value;
    if (name == "MemAvailable:") available = value;
    std::getline(file, unit);
    if (total != 0 && available != 0) break;
  }
  return available >= total / 10;
}

}  // namespace igloo::session
