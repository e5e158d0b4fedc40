#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "backend/backend.h"
#include "base/log.h"
#include "cgroup/groups.h"
#include "session/interpreter.h"
#include "session/run.h"
#include "session/warm/checkpoint.h"
#include "wall/walls.h"

namespace igloo::session {

/// What interpreters of one kind are made of. Equal ones can stand for each other.
struct Recipe {
  /// Its program is an interpreter's driver, or an interpreter that waits for its code.
  sandbox::Plan plan = {};
  const wall::Wall* wall = &wall::kDefault;  ///< behind which they are
  bool awaits_code = false;
  bool checkpoint = false;                ///< they are restored from a checkpoint; else started
  std::vector<std::string> preload = {};  ///< modules that are in the checkpoint
  std::size_t most = 4;                   ///< that wait at once; 0: none does
  std::size_t capture_limit = 8U << 20;
  std::uint64_t output_limit = 0;
  network::Wanted network = {};  ///< beyond what its plan says of it: values of secrets
  bool operator==(const Recipe&) const = default;
};

/// An interpreter and what it was made of, which it refers to.
struct OpenInterpreter {
  std::shared_ptr<const Recipe> recipe = {};      // shared with others of its kind
  std::shared_ptr<Checkpoint> checkpoint = {};    // shared with its siblings; null: it was started
  std::shared_ptr<Connection> connection = {};    // shared with the interpreter; null: no network
  std::unique_ptr<Interpreter> interpreter = {};  ///< of a session
  std::unique_ptr<Run> program = {};              ///< or one that waits for its code
  bool started = false;

  /// It has started, and nothing was ever run in it.
  bool fresh() const { return program ? program->waits() : interpreter->fresh(); }
  boost::asio::awaitable<Result<void>> Begin() {
    return program ? program->Prepare() : interpreter->Start();
  }
};

/// Interpreters in sandboxes of their own that are loaded before anybody asks for them. Each is
/// used once. How many wait follows from how many were asked for: none before the first use, more
/// after each time that none was there, fewer and in the end none while nobody asks. One thread;
/// outlives the event loop.
class Pool {
 public:
  struct Options {
    /// Whether the machine has memory to spare.
    std::function<bool()> roomy = {};
    /// Hears what goes wrong in the background, a sentence each.
    Log::Line note = {};
    /// igloo-copy; none: all interpreters are started.
    std::string copier = {};
    /// For interpreters with a network.
    Proxy* proxy = nullptr;
    std::chrono::milliseconds shrink_after{60'000};  ///< unused for this long: half of them go
  };

  Pool(boost::asio::io_context& loop, backend::Backend& backend, cgroup::Groups& groups,
       Options options);
  ~Pool();

  enum class Origin {
    kFastest,     ///< whatever gives one soonest
    kCheckpoint,  ///< from the checkpoint, if its kind has one: it can be copied
  };
  /// One that nobody has used: one that waits, or else one that has yet to be started.
  Result<std::unique_ptr<OpenInterpreter>> Take(std::shared_ptr<const Recipe> recipe,
                                                Origin origin);
  /// A program that waits for its code; null: none does, but some will soon.
  std::unique_ptr<OpenInterpreter> TakeProgram(std::shared_ptr<const Recipe> recipe);
  /// Starts one that has yet to be started. One whose checkpoint is of no use is replaced by one
  /// that needs none.
  boost::asio::awaitable<Result<void>> Start(OpenInterpreter& open);
  /// One more of the same checkpoint that nobody has used: one that waits, or else one that has yet
  /// to be started.
  Result<std::unique_ptr<OpenInterpreter>> Sibling(const OpenInterpreter& of);

  /// How many wait now, of all kinds.
  std::size_t waiting() const;
  /// `shrink_after` has passed once more.
  void Shrink();
  void Close();

 private:
  struct RecipePool;
  /// The first of those that wait; null: none does, and more will. What is `unwanted` is dropped.
  std::unique_ptr<OpenInterpreter> TakeFrom(
      const std::shared_ptr<RecipePool>& pool,
      const std::function<bool(const OpenInterpreter&)>& unwanted);
  std::shared_ptr<RecipePool> PoolFor(std::shared_ptr<const Recipe> recipe);
  Result<std::unique_ptr<OpenInterpreter>> Make(const std::shared_ptr<const Recipe>& recipe,
                                                const std::shared_ptr<Checkpoint>& checkpoint);
  Result<std::unique_ptr<Run>> MakeProgram(const OpenInterpreter& of);
  /// The network of one of its kind, if it has any.
  Result<std::shared_ptr<Connection>> Connect(const Recipe& recipe);
  /// Refills it when whoever took one is likely to have the answer.
  void RefillSoon(const std::shared_ptr<RecipePool>& pool);
  void AwaitDue();
  /// Begins to make what is missing.
  void Refill(const std::shared_ptr<RecipePool>& pool);
  boost::asio::awaitable<void> Fill(std::shared_ptr<RecipePool> pool);
  void KeepCheckpoint(RecipePool& pool);
  /// It is of no use: those who ask next do without it.
  void DropCheckpoint(const std::shared_ptr<Checkpoint>& checkpoint);
  boost::asio::awaitable<void> Watch();
  void Note(std::string_view text) const;

  boost::asio::io_context& loop_;
  backend::Backend& backend_;
  cgroup::Groups& groups_;
  Options options_;
  std::vector<std::shared_ptr<RecipePool>> pools_ = {};  // shared with what fills them
  /// Those that live on in sessions after their pool has gone: the next pool uses them again.
  struct Known {
    std::shared_ptr<const Recipe> recipe;
    std::weak_ptr<Checkpoint> checkpoint;
  };
  std::vector<Known> known_ = {};
  std::unique_ptr<boost::asio::steady_timer> clock_ = {};  ///< only while there are pools
  std::shared_ptr<boost::asio::steady_timer> soon_ = {};   ///< for pools that are due
};

/// Whether a tenth of this machine's memory is free.
bool HasMemoryToSpare();

}  // namespace igloo::session
