#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <deque>
#include <optional>

#include "mcp/channel.h"

namespace igloo::mcp {

/// The messages that answer one HTTP request, between those who write them and the one who sends
/// them on.
class HttpExchange : public Channel {
 public:
  explicit HttpExchange(const boost::asio::any_io_executor& executor) : changed_(executor) {}

  void Send(Outgoing message) override {
    if (gone_) return;
    queued_ += message.text.size();
    queue_.push_back(std::move(message));
    changed_.cancel();
  }
  bool congested() const override { return queued_ > (256U << 10); }
  void Abandon() override { Disconnect(); }

  /// The next message; empty when none comes any more or `patience` is over. What was there before
  /// the client was gone is given all the same: it may have closed only its sending half.
  boost::asio::awaitable<std::optional<Outgoing>> Next(
      std::chrono::steady_clock::duration patience);
  bool empty() const { return queue_.empty(); }
  /// The client has hung up, or the server ends.
  void Disconnect() {
    gone_ = true;
    changed_.cancel();
  }
  bool gone() const { return gone_; }

 private:
  boost::asio::steady_timer changed_;
  std::deque<Outgoing> queue_ = {};
  std::size_t queued_ = 0;
  bool gone_ = false;
};

}  // namespace igloo::mcp
