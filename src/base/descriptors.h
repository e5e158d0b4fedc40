#pragma once

// Descriptors that travel beside the bytes of a message over a local socket.

#include <sys/socket.h>

#include <cstddef>
#include <cstring>
#include <span>
#include <vector>

#include "base/unique_fd.h"

namespace igloo {

/// Room for them in one message, as the kernel wants it. Stays where it is until the message was
/// sent or understood.
template <std::size_t kMost>
class DescriptorRoom {
 public:
  DescriptorRoom() = default;
  DescriptorRoom(const DescriptorRoom&) = delete;
  DescriptorRoom& operator=(const DescriptorRoom&) = delete;

  /// `message` takes these along, kMost at most; they stay the caller's.
  void Send(msghdr& message, std::span<const int> descriptors) {
    if (descriptors.empty()) return;
    message.msg_control = bytes_;
    message.msg_controllen = CMSG_SPACE(descriptors.size_bytes());
    cmsghdr* header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(descriptors.size_bytes());
    std::memcpy(CMSG_DATA(header), descriptors.data(), descriptors.size_bytes());
  }
  /// `message` can bring some.
  void Receive(msghdr& message) {
    message.msg_control = bytes_;
    message.msg_controllen = sizeof bytes_;
  }

 private:
  alignas(cmsghdr) char bytes_[CMSG_SPACE(sizeof(int) * kMost)] = {};
};

/// Lets this process have as many descriptors open as it may, up to a million: the usual limit of
/// 1024 is there for programs that use select().
/// SECURITY: the kernel counts descriptors that wait in sockets for each user, and compares with
/// the limit of whoever sends one. A sandbox with the same user id outside and a higher limit could
/// fill its sockets, and this user could start no sandbox any more.
void RaiseOpenFiles();

/// All that came with a message, however many its sender wanted there to be: one that nobody takes
/// is closed. It was received with MSG_CMSG_CLOEXEC.
std::vector<UniqueFd> DescriptorsOf(msghdr& message);

}  // namespace igloo
