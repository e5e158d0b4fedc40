#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "base/cancellation.h"
#include "base/log.h"
#include "service/setup.h"

namespace igloo::service {

/// Runs the commands that print secrets beside everything else that a server does: somebody may
/// have to type a password first. One thread; ends before the loop does.
class SecretReader {
 public:
  /// `say` hears of those that cannot be read.
  SecretReader(boost::asio::io_context& loop, Log::Line say) : loop_(loop), say_(std::move(say)) {}

  /// Begins with all that a setup has.
  void Begin(const std::shared_ptr<const Setup>& setup);
  /// Until those of one environment were read, or cannot be.
  boost::asio::awaitable<void> Wait(std::shared_ptr<const Setup> setup, std::string environment,
                                    Cancellation cancellation);

 private:
  boost::asio::awaitable<void> Read(std::shared_ptr<const Setup> setup,
                                    config::SecretConfig secret);

  boost::asio::io_context& loop_;
  Log::Line say_;
  /// Never expires; cancelled whenever one was read.
  boost::asio::steady_timer come_{loop_, boost::asio::steady_timer::time_point::max()};
};

}  // namespace igloo::service
