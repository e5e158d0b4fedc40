#pragma once

// A client for tests of HTTP.

#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <algorithm>
#include <string>
#include <string_view>

#include "base/unique_fd.h"
#include "http/address.h"

namespace igloo::http::testing {

/// A client's socket.
class Caller {
 public:
  explicit Caller(std::uint16_t port) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    Connect(address);
  }
  explicit Caller(const UnixSocket& socket) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::ranges::copy(socket.path, address.sun_path);
    Connect(address);
  }
  /// Nobody may be there any more.
  void SendBytes(std::string_view bytes) {
    (void)!::send(fd_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
  }
  void Send(std::string_view verb, std::string_view headers, std::string_view body) {
    const std::string text = std::string(verb) + " /mcp HTTP/1.1\r\n" + std::string(headers) +
                             "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" +
                             std::string(body);
    EXPECT_EQ(::send(fd_.get(), text.data(), text.size(), MSG_NOSIGNAL),
              static_cast<ssize_t>(text.size()));
  }
  /// What has come once `mark` has, or all there is.
  std::string HearUntil(std::string_view mark) {
    std::string heard;
    char buffer[4096];
    while (heard.find(mark) == std::string::npos) {
      const ssize_t count = ::recv(fd_.get(), buffer, sizeof buffer, 0);
      if (count <= 0) break;
      heard.append(buffer, static_cast<std::size_t>(count));
    }
    return heard;
  }
  void HangUp() { fd_.Reset(); }
  void CloseSending() { EXPECT_EQ(::shutdown(fd_.get(), SHUT_WR), 0); }
  /// Without reading anything.
  void WaitUntilDropped() {
    pollfd state{fd_.get(), 0, 0};
    EXPECT_EQ(::poll(&state, 1, -1), 1);
  }

 private:
  template <class Address>
  void Connect(Address address) {
    auto* generic = reinterpret_cast<sockaddr*>(&address);
    fd_.Reset(::socket(generic->sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0));
    EXPECT_EQ(::connect(fd_.get(), generic, sizeof address), 0);
  }

  UniqueFd fd_ = {};
};

}  // namespace igloo::http::testing
