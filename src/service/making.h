#pragma once

#include <boost/asio/awaitable.hpp>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "base/cancellation.h"
#include "service/setup.h"

namespace igloo::service {

/// Environments that are still being made, beside the calls.
struct Making {
  /// Until the environment of this name or alias is made, or cannot be; at once if nobody makes it.
  /// Whoever waits hears the words of the one who works.
  std::function<boost::asio::awaitable<void>(
      std::string name, std::function<void(std::string_view line)> said, Cancellation cancellation)>
      wait = {};
  /// Until a setup's secrets for this environment were read, or cannot be.
  std::function<boost::asio::awaitable<void>(std::shared_ptr<const Setup> setup, std::string name,
                                             Cancellation cancellation)>
      secrets = {};
  /// The setup that counts now.
  std::function<std::shared_ptr<const Setup>()> setup = {};
};

}  // namespace igloo::service
