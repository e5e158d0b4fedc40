#include "mcp/outlet.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>

namespace igloo::mcp {

namespace {

/// What says it has room takes this much without making anyone wait.
constexpr std::size_t kAtomic = 4096;
constexpr std::size_t kMostParts = 16;

}  // namespace

Outlet::Outlet(int fd) : fd_(fd) {
  struct stat info{};
  if (::fstat(fd, &info) != 0) return;
  if (S_ISSOCK(info.st_mode)) kind_ = Kind::kSocket;
  if (!S_ISFIFO(info.st_mode)) return;
  const std::string path = "/proc/self/fd/" + std::to_string(fd);
  own_.Reset(::open(path.c_str(), O_WRONLY | O_NONBLOCK | O_CLOEXEC));
  if (own_) kind_ = Kind::kPipe;
}

ssize_t Outlet::WriteSome(const std::deque<std::string>& queue, std::size_t begun) const {
  std::array<iovec, kMostParts> parts{};
  std::size_t used = 0;
  for (const std::string& text : queue) {
    if (used == parts.size()) break;
    const std::size_t from = used == 0 ? begun : 0;
    parts[used++] = {const_cast<char*>(text.data()) + from, text.size() - from};
  }
  ssize_t count = -1;
  if (kind_ == Kind::kSocket) {
    msghdr message{};
    message.msg_iov = parts.data();
    message.msg_iovlen = used;
    count = ::sendmsg(fd_, &message, MSG_DONTWAIT | MSG_NOSIGNAL);
  } else if (kind_ == Kind::kPipe) {
    count = ::writev(own_.get(), parts.data(), static_cast<int>(used));
  } else {
    pollfd room{fd_, POLLOUT, 0};
    if (::poll(&room, 1, 0) == 0) return 0;
    count = ::write(fd_, parts[0].iov_base, std::min(parts[0].iov_len, kAtomic));
  }
  if (count >= 0) return count;
  return errno == EAGAIN || errno == EINTR ? 0 : -1;
}

}  // namespace igloo::mcp
