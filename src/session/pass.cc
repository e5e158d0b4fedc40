#include "session/pass.h"

#include <sys/socket.h>

#include <algorithm>
#include <cerrno>

namespace igloo::session {

Result<void> PassFds(int socket, char word, std::span<const int> fds) {
  iovec part{&word, 1};
  union {
    cmsghdr align;
    char bytes[CMSG_SPACE(sizeof(int) * 4)];
  } control = {};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control.bytes;
  message.msg_controllen = CMSG_SPACE(fds.size_bytes());
  cmsghdr* header = CMSG_FIRSTHDR(&message);
  header->cmsg_level = SOL_SOCKET;
  header->cmsg_type = SCM_RIGHTS;
  header->cmsg_len = CMSG_LEN(fds.size_bytes());
  std::copy(fds.begin(), fds.end(), reinterpret_cast<int*>(CMSG_DATA(header)));
  if (::sendmsg(socket, &message, MSG_NOSIGNAL | MSG_DONTWAIT) == 1) return {};
  const int saved_errno = errno;
  return FailSys(saved_errno, "the ready interpreter cannot be reached");
}

}  // namespace igloo::session
