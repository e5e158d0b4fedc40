#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <string_view>

#include "backend/jail/jail.h"
#include "cgroup/groups.h"
#include "mcp/cancellation.h"
#include "session/leftovers.h"
#include "session/run.h"
#include "tools/setup.h"

namespace igloo::tools {

/// A run that came to its end, whatever that was.
struct Finished {
  session::RunResult run = {};
  session::Leftovers left = {};
  bool looked_for_files = false;  ///< its backend can hand them out
  std::uint64_t time_limit_ms = 0, memory_limit_bytes = 0;
  std::int64_t queued_micros = 0;
};

/// Executes runs for all clients: so many at once as the machine can bear, the others in the order
/// in which they came. One thread. Outlives the event loop.
class Runner {
 public:
  struct Options {
    std::size_t at_once = 8;
    session::LeftLimits left = {};
  };

  Runner(boost::asio::io_context& loop, backend::jail::Programs programs, Options options);

  /// `heard` gets output as it comes. A cancelled run is ended at once, or never begun.
  boost::asio::awaitable<Result<Finished>> Execute(Order order, mcp::Cancellation cancellation,
                                                   std::function<void(std::string_view)> heard);

  /// Nobody waits any more: the event loop has ended, and what ran on it is being destroyed.
  void Close() { waiting_.clear(); }

  std::size_t running() const { return running_; }
  std::size_t waiting() const { return waiting_.size(); }

 private:
  boost::asio::awaitable<void> TakeTurn(mcp::Cancellation cancellation);
  void LetNextIn();
  Result<backend::Backend*> BackendFor(config::Backend kind);
  Result<session::RunIo> IoFor(const Order& order, const sandbox::Plan& plan,
                               std::function<void(std::string_view)> heard);

  boost::asio::io_context& loop_;
  backend::jail::Programs programs_;
  Options options_;
  cgroup::Groups groups_;
  backend::jail::JailBackend jail_;
  std::unique_ptr<backend::Backend> bubblewrap_ = {};
  std::size_t running_ = 0;
  std::list<boost::asio::steady_timer*> waiting_ = {};  ///< first come, first served
};

}  // namespace igloo::tools
