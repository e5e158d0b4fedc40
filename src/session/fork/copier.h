#pragma once

#include <sys/types.h>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "base/error.h"
#include "base/spawn.h"
#include "base/unique_fd.h"
#include "copy/protocol.h"

namespace igloo::session {

/// One igloo-copy: started for one order, ends with it. Dropping this ends it. One thread.
class Copier {
 public:
  /// Starts the program at `program` and gives it the order. `inits`: a pidfd of each igloo-init.
  /// SECURITY: it is ended when it is not done by `limit`; whom it copies may be hostile.
  static Result<std::unique_ptr<Copier>> Start(boost::asio::io_context& loop,
                                               const std::string& program, const copy::Order& order,
                                               std::span<const int> inits,
                                               std::chrono::milliseconds limit);

  struct Heard {
    copy::News news = {};
    UniqueFd file = {};  ///< with copy::news::Written; a sound checkpoint, and sealed
  };
  /// The next thing that it says; nothing when it has ended. Fails when its time is over.
  boost::asio::awaitable<Result<std::optional<Heard>>> Hear();
  /// The original has answered.
  void Answered();

 private:
  Copier(boost::asio::io_context& loop, Child child, UniqueFd socket, const copy::Order& order,
         std::chrono::milliseconds limit);

  Child child_;
  boost::asio::posix::stream_descriptor socket_;
  copy::Order order_;
  /// Tells the timer's handler, which may be called when this is gone, that it is not.
  std::shared_ptr<bool> late_ = std::make_shared<bool>(false);
  boost::asio::steady_timer deadline_;
};

}  // namespace igloo::session
