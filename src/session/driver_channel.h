#pragma once

#include <array>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "base/unique_fd.h"
#include "session/driver_frames.h"

namespace igloo::session {

/// The pipes between igloo and an interpreter's driver: orders go in, answers come out. Made with
/// std::make_shared; one thread.
class DriverChannel : public std::enable_shared_from_this<DriverChannel> {
 public:
  /// Called with each thing that a driver says, or with what is wrong with that: then it is the
  /// last time. False: nothing more is worth hearing. Not called after Close.
  using Heard = std::function<bool(Result<Said>)>;

  DriverChannel(boost::asio::io_context& loop, Heard heard);

  /// Takes igloo's ends.
  void Open(UniqueFd orders, UniqueFd answers);
  /// Hears answers as they come, until Close.
  void Watch();
  /// Hears what has come; false when nothing more is worth hearing.
  bool Listen();
  /// Drops what has come: whoever said it has ended.
  void Forget();
  /// Sends, now if that can be.
  void Send(std::string_view order);
  /// Drops what is not sent yet: whoever it was for has ended.
  void DropOrders();
  void Close();

 private:
  boost::asio::awaitable<void> WatchAnswers();
  boost::asio::awaitable<void> SendUnsent();
  bool TakeFrames();

  Heard heard_;
  boost::asio::posix::stream_descriptor orders_, answers_;
  std::string unsent_ = {};  ///< orders that wait until the pipe can be written
  std::size_t sent_ = 0;     ///< bytes of them
  bool sending_ = false;
  DriverFrames frames_ = {};
  std::array<char, 16384> room_;  ///< for what comes
};

}  // namespace igloo::session
