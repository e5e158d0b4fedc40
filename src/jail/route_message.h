#pragma once

#include <errno.h>
#include <linux/rtnetlink.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

namespace igloo::jail {

/// One request to the kernel's routing, put together in place.
class RouteMessage {
 public:
  template <typename Head>
  RouteMessage(uint16_t type, uint16_t flags, const Head& head) {
    nlmsghdr& message = header();
    message.nlmsg_type = type;
    message.nlmsg_flags = static_cast<uint16_t>(NLM_F_REQUEST | NLM_F_ACK | flags);
    message.nlmsg_len = NLMSG_LENGTH(0);
    Append(&head, sizeof head);
  }

  void Put(uint16_t kind, const void* data, size_t size) {
    const size_t at = Begin(kind);
    Append(data, size);
    End(at);
  }
  void Put(uint16_t kind, uint32_t number) { Put(kind, &number, sizeof number); }
  void Put(uint16_t kind, const char* text) { Put(kind, text, strlen(text) + 1); }

  /// An attribute that others lie in, until End.
  size_t Begin(uint16_t kind) {
    const size_t at = header().nlmsg_len;
    const rtattr attribute{.rta_len = 0, .rta_type = kind};
    Append(&attribute, sizeof attribute);
    return at;
  }
  void End(size_t at) {
    rtattr attribute;
    memcpy(&attribute, bytes_ + at, sizeof attribute);
    attribute.rta_len = static_cast<uint16_t>(header().nlmsg_len - at);
    memcpy(bytes_ + at, &attribute, sizeof attribute);
    while (header().nlmsg_len % RTA_ALIGNTO != 0) Append("", 1);
  }
  void Append(const void* data, size_t size) {
    if (header().nlmsg_len + size > sizeof bytes_) {
      full_ = true;
      return;
    }
    memcpy(bytes_ + header().nlmsg_len, data, size);
    header().nlmsg_len += static_cast<uint32_t>(size);
  }

  /// Sends it and waits for the answer; false with errno.
  bool Send(int socket_fd) {
    errno = EMSGSIZE;
    if (full_) return false;
    if (send(socket_fd, bytes_, header().nlmsg_len, 0) < 0) return false;
    alignas(nlmsghdr) unsigned char answer[1024];
    const ssize_t count = recv(socket_fd, answer, sizeof answer, 0);
    nlmsghdr head;
    nlmsgerr error;
    if (count < static_cast<ssize_t>(NLMSG_LENGTH(sizeof error))) return false;
    memcpy(&head, answer, sizeof head);
    memcpy(&error, answer + NLMSG_HDRLEN, sizeof error);
    errno = head.nlmsg_type == NLMSG_ERROR ? -error.error : EBADMSG;
    return errno == 0;
  }

 private:
  nlmsghdr& header() { return *reinterpret_cast<nlmsghdr*>(bytes_); }

  alignas(nlmsghdr) unsigned char bytes_[512] = {};
  bool full_ = false;
};

}  // namespace igloo::jail
