#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <memory>
#include <string>
#include <string_view>

#include "mcp/call.h"

namespace igloo::tools {

/// Tells a client that a run goes on: the seconds that it has taken, and the last line that it
/// printed, or that it waits for its turn.
class Ticker : public std::enable_shared_from_this<Ticker> {
 public:
  /// `call` must live until Stop. Seconds are counted from `came` on: there may have been another
  /// one before, and what does not grow is not told.
  static std::shared_ptr<Ticker> Start(mcp::Call& call,
                                       const boost::asio::any_io_executor& executor,
                                       std::chrono::system_clock::time_point came);
  Ticker(mcp::Call& call, const boost::asio::any_io_executor& executor,
         std::chrono::steady_clock::time_point began)
      : call_(&call), timer_(executor), began_(began) {}

  /// It waits no longer.
  void Begin() { waiting_ = false; }
  void Hear(std::string_view bytes);
  /// Nothing is told any more.
  void Stop();

 private:
  boost::asio::awaitable<void> Tick();
  std::string LastLine() const;

  mcp::Call* call_;  ///< null once stopped
  boost::asio::steady_timer timer_;
  std::chrono::steady_clock::time_point began_;
  bool waiting_ = true;      ///< until Begin
  std::string recent_ = {};  ///< the end of the output, a little of it
};

}  // namespace igloo::tools
