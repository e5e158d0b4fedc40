#include "session/input_feed.h"

#include <unistd.h>

#include <cerrno>
#include <string>
#include <string_view>

#include "session/asio.h"

namespace igloo::session {

namespace asio = boost::asio;
using asio::posix::stream_descriptor;

void InputFeed::Open(UniqueFd source, UniqueFd sink) {
  source_.assign(source.Release());
  sink_.assign(sink.Release());
}

asio::awaitable<bool> InputFeed::Pass(const char* bytes, std::size_t count) {
  std::string_view left(bytes, count);
  while (!left.empty()) {
    const ssize_t written = ::write(sink_.native_handle(), left.data(), left.size());
    if (written > 0) {
      left.remove_prefix(static_cast<std::size_t>(written));
    } else if (errno == EAGAIN) {
      boost::system::error_code error;
      auto token = asio::redirect_error(asio::use_awaitable, error);
      co_await sink_.async_wait(stream_descriptor::wait_write, token);
      if (error) co_return false;
    } else {
      co_return false;
    }
  }
  co_return true;
}

asio::awaitable<void> InputFeed::Run() {
  std::string buffer(64U << 10, '\0');
  bool can_be_watched = true;
  sink_.non_blocking(true);
  for (;;) {
    if (can_be_watched) {
      boost::system::error_code error;
      auto token = asio::redirect_error(asio::use_awaitable, error);
      co_await source_.async_wait(stream_descriptor::wait_read, token);
      // Files and most devices cannot be watched and need not be: they never make anyone wait.
      if (error == asio::error::operation_not_supported) can_be_watched = false;
      if (error && can_be_watched) break;
    }
    const ssize_t count = ::read(source_.native_handle(), buffer.data(), buffer.size());
    if (count < 0 && (errno == EAGAIN || errno == EINTR) && can_be_watched) continue;
    if (count <= 0) break;
    const bool passed = co_await Pass(buffer.data(), static_cast<std::size_t>(count));
    if (!passed) co_return;
  }
  boost::system::error_code ignored;
  sink_.close(ignored);
}

void InputFeed::Close() {
  boost::system::error_code ignored;
  if (source_.is_open()) source_.close(ignored);
  if (sink_.is_open()) sink_.close(ignored);
}

}  // namespace igloo::session
