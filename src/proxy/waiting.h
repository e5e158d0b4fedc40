#pragma once

#include <boost/intrusive/list.hpp>
#include <chrono>
#include <functional>
#include <memory>

#include "proxy/asio.h"

namespace igloo::proxy {

/// Calls a function when a time has passed, unless it is dropped before. Several of them are made
/// for every request and next to none is ever reached, so all of an event loop share one timer,
/// which is set anew only for one that comes before all others.
class Deadline : public boost::intrusive::list_base_hook<
                     boost::intrusive::link_mode<boost::intrusive::auto_unlink>> {
 public:
  Deadline(const asio::any_io_executor& executor, std::chrono::milliseconds patience,
           std::function<void()> late);
  Deadline(const Deadline&) = delete;
  Deadline& operator=(const Deadline&) = delete;

  bool passed() const { return passed_; }

 private:
  friend class Deadlines;
  std::chrono::steady_clock::time_point until_;
  std::function<void()> late_;
  bool passed_ = false;
};

/// Runs two things at once and waits for both.
asio::awaitable<void> Both(asio::awaitable<void> one, asio::awaitable<void> other);

/// Lets everything else that is ready go on first.
asio::awaitable<void> GiveWay();
asio::awaitable<void> Pause(std::chrono::milliseconds time);

}  // namespace igloo::proxy
