#include "mcp/http.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/post.hpp>
#include <future>
#include <thread>

#include "base/unique_fd.h"
#include "mcp/testing.h"

namespace igloo::mcp {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using testing::Legacy;
using testing::Modern;
using ::testing::StartsWith;

/// A client's socket.
class Caller {
 public:
  explicit Caller(std::uint16_t port) : fd_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_EQ(::connect(fd_.get(), reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
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

 private:
  UniqueFd fd_;
};

constexpr char kHost[] = "Host: localhost\r\n";

std::string ModernHeaders(std::string_view method, std::string_view name = "") {
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

  testing::FakeService service_ = {};
  boost::asio::io_context loop_ = {};
  std::shared_ptr<ServerCore> core_ = std::make_shared<ServerCore>(
      loop_.get_executor(), service_, ServerOptions{.progress_interval = std::chrono::seconds(0)});
  std::unique_ptr<HttpServer> server_ = {};
  std::uint16_t port_ = 0;
  std::jthread thread_ = {};
};

TEST_F(Http, AnswersWithOneMessageOrAStream) {
  Start();
  EXPECT_THAT(
      Post(ModernHeaders("tools/list"), Modern("1", "tools/list")),
      AllOf(StartsWith("HTTP/1.1 200"), HasSubstr("application/json"), HasSubstr("\"tools\"")));
  EXPECT_THAT(
      Post(ModernHeaders("tools/call", "steps"), Modern("1", "tools/call", R"("name":"steps")")),
      AllOf(StartsWith("HTTP/1.1 200"), HasSubstr("text/event-stream"),
            HasSubstr("notifications/progress"), HasSubstr("\"result\"")));
  EXPECT_THAT(Post(ModernHeaders("no/such"), Modern("1", "no/such")), StartsWith("HTTP/1.1 404"));
  EXPECT_THAT(Post(ModernHeaders("tools/call"), Modern("1", "tools/list")),
              AllOf(StartsWith("HTTP/1.1 400"), HasSubstr("-32020")));
  EXPECT_THAT(Post(kHost, R"({"jsonrpc":"2.0","method":"notifications/initialized"})"),
              StartsWith("HTTP/1.1 202"));
  EXPECT_THAT(Post(kHost, "{"), AllOf(StartsWith("HTTP/1.1 400"), HasSubstr("-32700")));
}

TEST_F(Http, StrangersAreTurnedAway) {
  Start({.token = "secret"});
  const std::string ping = Legacy("1", "ping");
  const std::string token = "Authorization: Bearer secret\r\n";
  EXPECT_THAT(Post(kHost + token, ping), StartsWith("HTTP/1.1 200")) << "control";
  EXPECT_THAT(Post(kHost, ping), AllOf(StartsWith("HTTP/1.1 401"), HasSubstr("Bearer")));
  EXPECT_THAT(Post("Host: evil.example\r\n" + token, ping), StartsWith("HTTP/1.1 403"));
  EXPECT_THAT(Post(kHost + token + "Origin: http://evil.example\r\n", ping),
              StartsWith("HTTP/1.1 403"));
}

TEST_F(Http, ABodyThatIsTooLongIsRefused) {
  Start({.longest_body = 1000});
  EXPECT_THAT(Post(kHost, std::string(1001, ' ')), StartsWith("HTTP/1.1 413"));
}

TEST_F(Http, HangingUpCancelsAModernCall) {
  Start();
  Caller caller(port_);
  caller.Send("POST", ModernHeaders("tools/call", "wait"),
              Modern("1", "tools/call", R"("name":"wait")"));
  WaitFor([&] { return service_.waiting.size() == 1; });
  caller.HangUp();
  WaitFor([&] { return service_.cancelled == 1; });
}

TEST_F(Http, ALegacyCallOutlivesItsConnectionUntilItIsCancelled) {
  Start();
  const std::string hello = Post(
      kHost, Legacy("0", "initialize", R"({"protocolVersion":"2025-11-25","capabilities":{}})"));
  const std::size_t at = hello.find("Mcp-Session-Id: ");
  ASSERT_NE(at, std::string::npos) << hello;
  const std::string session = kHost + hello.substr(at, 16 + 32) + "\r\n";
  Caller caller(port_);
  caller.Send("POST", session, Legacy("1", "tools/call", R"({"name":"wait"})"));
  WaitFor([&] { return service_.waiting.size() == 1; });
  caller.HangUp();
  EXPECT_THAT(Post(session, Legacy("2", "ping")), StartsWith("HTTP/1.1 200"));
  EXPECT_TRUE(OnLoop([&] { return service_.cancelled == 0; }));
  Post(session, R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}})");
  WaitFor([&] { return service_.cancelled == 1; });

  Caller ender(port_);
  ender.Send("DELETE", session, "");
  EXPECT_THAT(ender.HearUntil("\r\n\r\n"), StartsWith("HTTP/1.1 200"));
  EXPECT_THAT(Post(session, Legacy("3", "ping")), StartsWith("HTTP/1.1 404"));
}

TEST_F(Http, AListenerHearsOfChangesUntilItHangsUp) {
  Start();
  Caller caller(port_);
  caller.Send("POST", ModernHeaders("subscriptions/listen"),
              Modern("7", "subscriptions/listen", R"("notifications":{"toolsListChanged":true})"));
  EXPECT_THAT(caller.HearUntil("}}}\n\n"), HasSubstr("subscriptions/acknowledged"));
  boost::asio::post(loop_, [&] { core_->Announce(change::Tools{}); });
  EXPECT_THAT(caller.HearUntil("}}}\n\n"), HasSubstr("notifications/tools/list_changed"));
}

TEST_F(Http, OtherMethodsAreNotServed) {
  Start();
  for (const char* verb : {"GET", "DELETE", "PUT"}) {
    Caller caller(port_);
    caller.Send(verb, kHost, "");
    EXPECT_THAT(caller.HearUntil("\r\n\r\n"), StartsWith("HTTP/1.1 405")) << verb;
  }
}

}  // namespace
}  // namespace igloo::mcp
