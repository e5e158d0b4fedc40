#include "base/pass.h"

#include <sys/socket.h>

#include <cerrno>

#include "base/descriptors.h"

namespace igloo {

Result<void> PassFds(int socket, char word, std::span<const int> fds) {
  iovec part{&word, 1};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  DescriptorRoom<4> room;
  room.Send(message, fds);
  if (::sendmsg(socket, &message, MSG_NOSIGNAL | MSG_DONTWAIT) == 1) return {};
  const int saved_errno = errno;
  return FailSys(saved_errno, "a descriptor cannot be passed on");
}

}  // namespace igloo
