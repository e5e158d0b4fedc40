#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>

#include "base/unique_fd.h"

namespace igloo::session {

/// Passes a caller's input on to a program, until one of the two ends it.
class InputFeed {
 public:
  explicit InputFeed(boost::asio::io_context& loop) : source_(loop), sink_(loop) {}

  void Open(UniqueFd source, UniqueFd sink);
  bool is_open() const { return sink_.is_open(); }
  /// Call once. Whoever owns the feed keeps it until this has returned.
  boost::asio::awaitable<void> Run();
  void Close();

 private:
  /// False when the program does not read any more.
  boost::asio::awaitable<bool> Pass(const char* bytes, std::size_t count);

  boost::asio::posix::stream_descriptor source_, sink_;
};

}  // namespace igloo::session
