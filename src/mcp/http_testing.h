#pragma once

// A server and its callers for this room's tests of HTTP.

#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <algorithm>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/post.hpp>
#include <functional>
#include <future>
#include <memory>
#include <string>
#include <string_view>
#include <thread>

#include "base/unique_fd.h"
#include "mcp/http.h"
#include "mcp/testing.h"

namespace igloo::mcp::testing {

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

inline constexpr char kJson[] = "Content-Type: application/json\r\n";
inline constexpr char kHost[] = "Host: localhost\r\nContent-Type: application/json\r\n";

inline std::string ModernHeaders(std::string_view method, std::string_view name = "") {
  return std::string(kHost) +
         "MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: " + std::string(method) +
         "\r\nMcp-Name: " + std::string(name) + "\r\n";
}

class Http : public ::testing::Test {
 protected:
  void Start(HttpOptions options = {}) {
    server_ = std::make_unique<HttpServer>(loop_, core_, options);
    port_ = server_->Listen().value();
    boost::asio::co_spawn(loop_, server_->Serve(), boost::asio::detached);
    thread_ = std::jthread([this] { loop_.run(); });
  }
  void TearDown() override {
    boost::asio::post(loop_, [this] { server_->Stop(); });
    thread_.join();  // nothing may keep the loop busy
    EXPECT_EQ(core_->running(), 0U);
  }
  std::string Post(std::string_view headers, std::string_view body) {
    Caller caller(port_);
    caller.Send("POST", std::string(headers) + "Connection: close\r\n", body);
    return caller.HearUntil("never");
  }
  /// Asks the server's thread, until it is so.
  void WaitFor(const std::function<bool()>& what) {
    while (!OnLoop(what)) std::this_thread::yield();
  }
  bool OnLoop(const std::function<bool()>& what) {
    std::promise<bool> answer;
    boost::asio::post(loop_, [&] { answer.set_value(what()); });
    return answer.get_future().get();
  }

  FakeService service_ = {};
  boost::asio::io_context loop_ = {};
  std::shared_ptr<ServerCore> core_ = std::make_shared<ServerCore>(
      loop_.get_executor(), service_, ServerOptions{.progress_interval = std::chrono::seconds(0)});
  std::unique_ptr<HttpServer> server_ = {};
  std::uint16_t port_ = 0;
  std::jthread thread_ = {};
};

}  // namespace igloo::mcp::testing
