#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/steady_timer.hpp>
#include <string>

#include "base/error.h"
#include "base/spawn.h"
#include "base/unique_fd.h"
#include "sandbox/policy.h"
#include "wall/walls.h"

namespace igloo::session {

/// What carries the packets of one sandbox: pasta, a process that ends with this. Without it the
/// sandbox's device leads nowhere. One thread.
class Device {
 public:
  /// `device` outlives it.
  Device(const boost::asio::any_io_executor& executor, const sandbox::Device& device);

  /// Starts it at the edge of the sandbox, and waits until packets pass. The owner keeps this alive
  /// until then.
  boost::asio::awaitable<Result<void>> Raise(UniqueFd edge);
  /// Waits for its end, unless it is closed before.
  boost::asio::awaitable<void> Watch();
  void Close();

  pid_t pid() const { return child_ ? child_.pid() : -1; }

 private:
  Result<void> Start(UniqueFd edge);

  const sandbox::Device& device_;
  Child child_ = {};
  boost::asio::posix::stream_descriptor words_, end_;
  boost::asio::steady_timer limit_;
  bool late_ = false;
};

/// What to tell whoever wanted a network with everything when a plan has no device for programs
/// that know no proxy; empty: nothing is missing. `wall` is what the plan is for.
std::string MissingDevice(const sandbox::Network& network, std::string_view resolver,
                          const wall::Wall& wall);

}  // namespace igloo::session
