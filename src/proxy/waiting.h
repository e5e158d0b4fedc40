#pragma once

#include <chrono>
#include <functional>
#include <memory>

#include "proxy/asio.h"

namespace igloo::proxy {

/// Calls a function when a time has passed, unless it is dropped before.
class Deadline {
 public:
  Deadline(const asio::any_io_executor& executor, std::chrono::milliseconds patience,
           std::function<void()> late);
  Deadline(const Deadline&) = delete;
  Deadline& operator=(const Deadline&) = delete;
  ~Deadline();

  bool passed() const { return state_->passed; }

 private:
  struct State {
    std::function<void()> late = {};
    bool passed = false;
  };
  asio::steady_timer timer_;
  std::shared_ptr<State> state_;  // shared with a wait that is on its way
};

/// Runs two things at once and waits for both.
asio::awaitable<void> Both(asio::awaitable<void> one, asio::awaitable<void> other);

/// Lets everything else that is ready go on first.
asio::awaitable<void> GiveWay();
asio::awaitable<void> Pause(std::chrono::milliseconds time);

}  // namespace igloo::proxy
