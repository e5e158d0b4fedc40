#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/asio/io_context.hpp>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "backend/registry.h"
#include "base/cancellation.h"
#include "base/log.h"
#include "cgroup/groups.h"
#include "service/finished.h"
#include "service/recipes.h"
#include "service/setup.h"
#include "service/turns.h"
#include "session/files/leftovers.h"
#include "session/interpreter.h"
#include "session/run.h"
#include "session/warm/pool.h"

namespace igloo::service {

/// A program that writes this many times what is kept is ended: nobody will read it.
inline constexpr std::uint64_t kEndlessOutput = 128;

/// Who wants to know how a run gets on.
struct Listener {
  std::function<void()> began = {};                  ///< it was its turn
  std::function<void(std::string_view)> heard = {};  ///< output as it comes
};

/// The driver for the language of an environment's interpreter, or else the one that runs its
/// command for every call; null if there is none, or its backend cannot have one.
const language::Driver* DriverOf(const config::Configured& where);

/// What is below `directory` now, read in slices between which the event loop goes on. All of these
/// outlive it.
boost::asio::awaitable<session::Leftovers> ReadInSlices(
    int directory, const std::vector<environment::GivenFile>& given, session::LeftLimits limits,
    session::Stamps* stamps = nullptr);

/// Executes runs for all clients: so many at once as the machine can bear, the others in the order
/// in which they came. One thread. Outlives the event loop.
class Runner {
 public:
  struct Options {
    std::size_t at_once = 8;
    session::LeftLimits left = {};
    /// Hears what goes wrong in the background, a sentence each.
    Log::Line note = {};
    /// For sandboxes with a network. Its program and whom it tells are the runner's to say.
    session::Proxy::Options proxy = {};
    /// What makes the walls that orders name.
    std::span<const backend::Factory> factories = backend::Factories();
  };

  Runner(boost::asio::io_context& loop, backend::Programs programs, Options options);
  ~Runner();

  /// A cancelled run is ended at once, or never begun.
  boost::asio::awaitable<Result<Finished>> Execute(Order order, Cancellation cancellation,
                                                   Listener listener);

  /// Nobody waits any more: the event loop has ended, and what ran on it is being destroyed.
  void Close();

  /// How much of what a run leaves is looked at.
  const session::LeftLimits& left_limits() const { return options_.left; }

  /// A sandbox with an interpreter for an order that has a driver; its code and files are not
  /// looked at. It may be ready, or may have yet to be started.
  Result<std::unique_ptr<session::OpenInterpreter>> Open(const Order& order,
                                                         session::Pool::Origin origin);
  boost::asio::awaitable<Result<void>> Start(session::OpenInterpreter& open) {
    return walls_in_use_.at(open.recipe->wall).pool->Start(open);
  }
  /// Another one that `of` can be copied to.
  Result<std::unique_ptr<session::OpenInterpreter>> Sibling(const session::OpenInterpreter& of) {
    return walls_in_use_.at(of.recipe->wall).pool->Sibling(of);
  }
  boost::asio::io_context& loop() { return loop_; }
  /// Through which sandboxes with a network reach it.
  session::Proxy& proxy() { return proxy_; }
  /// What this machine counts sandboxes with.
  const cgroup::Found& cgroups() const { return groups_.found(); }
  /// Whose ids sandboxes behind the usual wall will have outside. If it turns out otherwise,
  /// Options::note hears it.
  Result<backend::HostIds> expected_ids();

 private:
  boost::asio::awaitable<Result<Finished>> ExecuteFresh(Order order, Cancellation cancellation,
                                                        const Listener& listener);
  /// The program begins once; a sandbox that vanishes before that is replaced.
  boost::asio::awaitable<Result<session::RunResult>> ExecutePlan(const Order& order,
                                                                 const sandbox::Plan& plan,
                                                                 backend::Backend& backend,
                                                                 Cancellation cancellation,
                                                                 const Listener& listener);
  /// In a program that waits for its code; nothing: none does, or it was gone before the code came.
  boost::asio::awaitable<std::optional<Result<Finished>>> ExecuteWaiting(const Order& order,
                                                                         Cancellation cancellation,
                                                                         const Listener& listener);
  /// What a run left in the directories that it handed out.
  boost::asio::awaitable<void> Collect(const environment::Environment& where,
                                       const environment::RunRequest& request,
                                       Cancellation cancellation, Finished& finished);
  Result<std::shared_ptr<const session::Recipe>> RecipeFor(const Order& order);
  /// A wall that somebody uses, and the interpreters that wait behind it.
  struct WallInUse {
    std::unique_ptr<backend::Backend> backend;
    std::unique_ptr<session::Pool> pool;
  };
  Result<WallInUse*> WallFor(const wall::Wall& wall, const std::string& kernel = {});
  Result<session::RunIo> IoFor(const Order& order, const sandbox::Plan& plan,
                               std::function<void(std::string_view)> heard);
  /// Once a server: what programs that know no proxy lack here.
  void SayIfMissing(const sandbox::Network& network, const Order& order);
  /// Once a server: which limit nobody keeps here.
  void SayIfUnlimited(const sandbox::Plan& plan);

  boost::asio::io_context& loop_;
  backend::Programs programs_;
  Options options_;
  bool said_missing_ = false, said_unlimited_ = false;
  cgroup::Groups groups_;
  session::Proxy proxy_;
  std::map<const wall::Wall*, WallInUse> walls_in_use_ = {};
  Recipes recipes_ = {};
  Turns turns_;
};

}  // namespace igloo::service
