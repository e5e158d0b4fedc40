#pragma once

#include <sys/types.h>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/steady_timer.hpp>
#include <string_view>

namespace igloo::session {

/// Copies output to a descriptor of the caller's. A reader that does not read makes the writer wait
/// and never the event loop: signals and time limits go on being heard.
class LiveOutput {
 public:
  /// `fd` stays the caller's, and so do its flags.
  LiveOutput(boost::asio::io_context& loop, int fd);

  /// False when nobody reads any more.
  boost::asio::awaitable<bool> Write(std::string_view bytes);
  /// Whether bytes can go from a pipe to this output without being copied.
  bool can_splice() const { return own_is_pipe_; }
  /// Moves what has come on the pipe `from`: how much, 0 at its end, -EAGAIN when nothing has come,
  /// another negative number when nobody reads any more.
  boost::asio::awaitable<ssize_t> Splice(int from);
  void Close();

 private:
  boost::asio::awaitable<bool> WaitForRoom();

  int fd_;
  bool patient_ = false;  ///< may be full and cannot be watched: looked at again and again
  bool own_is_pipe_ = false;
  boost::asio::posix::stream_descriptor own_;  ///< a description of our own, when one can be had
  boost::asio::steady_timer pause_;
};

}  // namespace igloo::session
