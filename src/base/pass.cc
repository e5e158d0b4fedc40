#include "base/pass.h"

#include <sys/socket.h>

#include <cerrno>

#include "base/descriptors.h"

namespace igloo {

Result<void> SendWithFds(int socket, std::string_view bytes, std::span<const int> fds) {
  iovec part{const_cast<char*>(bytes.data()), bytes.size()};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  DescriptorRoom<4> room;
  room.Send(message, fds);
  const ssize_t sent = ::sendmsg(socket, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
  if (sent == static_cast<ssize_t>(bytes.size())) return {};
  const int saved_errno = sent < 0 ? errno : EAGAIN;
  return FailSys(saved_errno, "a descriptor cannot be passed on");
}

Result<void> PassFds(int socket, char word, std::span<const int> fds) {
  return SendWithFds(socket, {&word, 1}, fds);
}

Result<std::optional<ReceivedBytes>> ReceiveWithFds(int socket, std::span<char> buffer) {
  iovec part{buffer.data(), buffer.size()};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  DescriptorRoom<4> room;
  room.Receive(message);
  const ssize_t count = ::recvmsg(socket, &message, MSG_CMSG_CLOEXEC | MSG_DONTWAIT);
  if (count < 0) {
    const int saved_errno = errno;
    if (saved_errno == EAGAIN || saved_errno == EINTR) return std::nullopt;
    return FailSys(saved_errno, "cannot receive a message");
  }
  return ReceivedBytes{static_cast<std::size_t>(count), DescriptorsOf(message)};
}

}  // namespace igloo
