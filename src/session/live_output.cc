#include "session/live_output.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <string>

#include "session/asio.h"

namespace igloo::session {

namespace asio = boost::asio;
using asio::posix::stream_descriptor;

namespace {

/// A pipe that says it has room takes this much without blocking.
constexpr std::size_t kAtomic = 4096;

bool NobodyReads(int error) { return error != EAGAIN && error != EINTR; }

}  // namespace

LiveOutput::LiveOutput(asio::io_context& loop, int fd) : fd_(fd), own_(loop), pause_(loop) {
  struct stat info{};
  if (::fstat(fd, &info) != 0) return;
  patient_ = S_ISSOCK(info.st_mode) || S_ISFIFO(info.st_mode) || ::isatty(fd) == 1;
  if (!patient_ || S_ISSOCK(info.st_mode)) return;
  // Opened anew: making the caller's own description non-blocking would change it for everybody
  // who shares it. A pipe of another user's cannot be opened; then there is patience.
  const std::string path = "/proc/self/fd/" + std::to_string(fd);
  const int opened = ::open(path.c_str(), O_WRONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
  if (opened < 0) return;
  own_.assign(opened);
  own_is_pipe_ = S_ISFIFO(info.st_mode);
}

asio::awaitable<bool> LiveOutput::WaitForRoom() {
  boost::system::error_code error;
  auto token = asio::redirect_error(asio::use_awaitable, error);
  if (own_.is_open()) {
    co_await own_.async_wait(stream_descriptor::wait_write, token);
  } else {
    pause_.expires_after(std::chrono::milliseconds(5));
    co_await pause_.async_wait(token);
  }
  co_return !error;
}

asio::awaitable<bool> LiveOutput::Write(std::string_view bytes) {
  while (!bytes.empty()) {
    const bool watched = own_.is_open();
    pollfd state{fd_, POLLOUT, 0};
    if (patient_ && !watched && ::poll(&state, 1, 0) == 0) {
      if (!co_await WaitForRoom()) co_return false;
      continue;
    }
    const std::size_t most = patient_ && !watched ? kAtomic : bytes.size();
    const ssize_t count =
        ::write(watched ? own_.native_handle() : fd_, bytes.data(), std::min(most, bytes.size()));
    if (count > 0) {
      bytes.remove_prefix(static_cast<std::size_t>(count));
      continue;
    }
    if (count < 0 && NobodyReads(errno)) co_return false;
    const bool waited = co_await WaitForRoom();
    if (!waited) co_return false;
  }
  co_return true;
}

asio::awaitable<ssize_t> LiveOutput::Splice(int from) {
  constexpr std::size_t kMost = 1U << 20;
  for (;;) {
    const ssize_t count = ::splice(from, nullptr, own_.native_handle(), nullptr, kMost,
                                   SPLICE_F_MOVE | SPLICE_F_NONBLOCK);
    if (count >= 0) co_return count;
    const int saved_errno = errno;
    if (saved_errno == EINTR) continue;
    if (saved_errno != EAGAIN) co_return -saved_errno;
    // Either there is nothing to take or no room to put it.
    pollfd room{own_.native_handle(), POLLOUT, 0};
    if (::poll(&room, 1, 0) > 0) co_return -EAGAIN;
    const bool waited = co_await WaitForRoom();
    if (!waited) co_return -EPIPE;
  }
}

void LiveOutput::Close() {
  boost::system::error_code ignored;
  if (own_.is_open()) own_.close(ignored);
  pause_.cancel();
}

}  // namespace igloo::session
