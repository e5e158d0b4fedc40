#pragma once

// A server for this room's tests of HTTP.

#include <gtest/gtest.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/post.hpp>
#include <functional>
#include <future>
#include <memory>
#include <string>
#include <string_view>
#include <thread>

#include "http/testing.h"
#include "mcp/http.h"
#include "mcp/testing.h"

namespace igloo::mcp::testing {

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
    http::testing::Caller caller(port_);
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
