#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <cstddef>
#include <list>

#include "base/cancellation.h"

namespace igloo::tools {

/// Lets so many in at once, the others in the order in which they came. One thread; outlives the
/// event loop.
class Turns {
 public:
  Turns(boost::asio::io_context& loop, std::size_t at_once) : loop_(loop), at_once_(at_once) {}

  /// Returns when it is the caller's turn, or its call is cancelled: then too it has a turn, and
  /// gives it back.
  boost::asio::awaitable<void> Take(Cancellation cancellation);
  void GiveBack();
  /// Nobody waits any more: the event loop has ended, and what ran on it is being destroyed.
  void Close() { waiting_.clear(); }

  std::size_t taken() const { return taken_; }
  std::size_t waiting() const { return waiting_.size(); }

 private:
  boost::asio::io_context& loop_;
  std::size_t at_once_;
  std::size_t taken_ = 0;
  std::list<boost::asio::steady_timer*> waiting_ = {};
};

}  // namespace igloo::tools
