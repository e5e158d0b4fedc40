#include "mcp/http.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <algorithm>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/post.hpp>
#include <filesystem>
#include <future>
#include <thread>

#include "base/temp_dir.h"
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

constexpr char kJson[] = "Content-Type: application/json\r\n";
constexpr char kHost[] = "Host: localhost\r\nContent-Type: application/json\r\n";

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
  EXPECT_THAT(Post(std::string("Host: evil.example\r\n") + kJson + token, ping),
              StartsWith("HTTP/1.1 403"));
  EXPECT_THAT(Post(kHost + token + "Origin: http://evil.example\r\n", ping),
              StartsWith("HTTP/1.1 403"));
}

TEST_F(Http, TheTargetMayNameTheServer) {
  Start();
  const std::string ping = Legacy("1", "ping");
  const auto ask = [&](const std::string& target, const std::string& host) {
    Caller caller(port_);
    caller.SendBytes("POST " + target + " HTTP/1.1\r\nHost: " + host + "\r\n" + kJson +
                     "Connection: close\r\nContent-Length: " + std::to_string(ping.size()) +
                     "\r\n\r\n" + ping);
    return caller.HearUntil("never");
  };
  EXPECT_THAT(ask("http://localhost/mcp", "localhost"), StartsWith("HTTP/1.1 200"));
  EXPECT_THAT(ask("http://evil.example/mcp", "localhost"), StartsWith("HTTP/1.1 403"));
  EXPECT_THAT(ask("http://localhost", "localhost"), StartsWith("HTTP/1.1 404"));
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

TEST_F(Http, HangingUpIsNoticedBehindWhatWasSentAhead) {
  Start();
  Caller caller(port_);
  caller.Send("POST", ModernHeaders("tools/call", "wait"),
              Modern("1", "tools/call", R"("name":"wait")"));
  WaitFor([&] { return service_.waiting.size() == 1; });
  caller.SendBytes("P");
  caller.HangUp();
  WaitFor([&] { return service_.cancelled == 1; });
}

TEST_F(Http, WhatIsSentAheadIsServedAfterwards) {
  Start();
  Caller caller(port_);
  caller.Send("POST", ModernHeaders("tools/call", "wait"),
              Modern("1", "tools/call", R"("name":"wait")"));
  WaitFor([&] { return service_.waiting.size() == 1; });
  caller.Send("POST", kHost, Legacy("2", "ping"));
  OnLoop([&] {
    service_.LetGo(0);
    return true;
  });
  EXPECT_THAT(caller.HearUntil("\"id\":2"), AllOf(HasSubstr("\"id\":1"), HasSubstr("\"id\":2")));
}

TEST_F(Http, WhoHasClosedOnlyItsSendingHalfIsAnswered) {
  Start();
  Caller modern(port_);
  modern.Send("POST", ModernHeaders("tools/list"), Modern("1", "tools/list"));
  modern.CloseSending();
  EXPECT_THAT(modern.HearUntil("never"), HasSubstr("\"tools\""));
  Caller legacy(port_);
  legacy.Send("POST", kHost, Legacy("1", "tools/call", R"({"name":"wait"})"));
  legacy.CloseSending();
  WaitFor([&] { return service_.waiting.size() == 1; });
  OnLoop([&] {
    service_.LetGo(0);
    return true;
  });
  EXPECT_THAT(legacy.HearUntil("never"), HasSubstr("\"result\""));
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
    EXPECT_THAT(caller.HearUntil("\r\n\r\n"),
                AllOf(StartsWith("HTTP/1.1 405"), HasSubstr("Allow: POST")))
        << verb;
  }
}

TEST_F(Http, OneConnectionServesManyRequests) {
  Start();
  Caller caller(port_);
  for (const char* id : {"1", "2", "3"}) {
    caller.Send("POST", kHost, Legacy(id, "ping"));
    EXPECT_THAT(caller.HearUntil("}}"), StartsWith("HTTP/1.1 200"));
  }
  // Two at once wait for each other.
  const std::string list = Modern("5", "tools/list");
  caller.Send("POST", kHost, Legacy("4", "ping"));
  caller.Send("POST", ModernHeaders("tools/list"), list);
  EXPECT_THAT(caller.HearUntil("cacheScope"), AllOf(HasSubstr("\"id\":4"), HasSubstr("\"id\":5")));
}

TEST_F(Http, WhatAPageCouldSendUnaskedIsRefused) {
  Start();
  const std::string host = "Host: localhost\r\n";
  EXPECT_THAT(Post(host + "Content-Type: text/plain\r\n", Legacy("1", "ping")),
              StartsWith("HTTP/1.1 415"));
  EXPECT_THAT(Post(host, Legacy("1", "ping")), StartsWith("HTTP/1.1 415"));
  EXPECT_THAT(Post(host + kJson, Legacy("1", "ping")), StartsWith("HTTP/1.1 200")) << "control";
}

TEST_F(Http, AStrangersBodyIsNotWaitedFor) {
  Start({.token = "secret"});
  Caller caller(port_);
  caller.SendBytes("POST /mcp HTTP/1.1\r\n" + std::string(kHost) +
                   "Content-Length: 1000000\r\n\r\n");
  EXPECT_THAT(caller.HearUntil("never"),
              AllOf(StartsWith("HTTP/1.1 401"), HasSubstr("Connection: close")));
}

TEST_F(Http, AHeadThatTricklesInIsCutOff) {
  Start({.longest_head = 64U << 20, .head_limit = std::chrono::milliseconds(50)});
  Caller caller(port_);
  // Every byte comes in good time, but the head never ends.
  const std::jthread trickle([&](const std::stop_token& stop) {
    caller.SendBytes("POST /mcp HTTP/1.1\r\nX: ");
    while (!stop.stop_requested()) {
      caller.SendBytes("x");
      OnLoop([] { return true; });
    }
  });
  EXPECT_THAT(caller.HearUntil("never"), StartsWith("HTTP/1.1 408"));
}

TEST_F(Http, ABodyThatDoesNotComeIsGivenUp) {
  Start({.body_limit = std::chrono::milliseconds(50)});
  Caller caller(port_);
  caller.SendBytes("POST /mcp HTTP/1.1\r\n" + std::string(kHost) + "Content-Length: 10\r\n\r\n{");
  EXPECT_THAT(caller.HearUntil("never"), StartsWith("HTTP/1.1 408"));
}

TEST_F(Http, WhoSaysNothingIsForgotten) {
  // A client may be silent between its requests, for longer than one that never asked for anything.
  Start({.idle_limit = std::chrono::hours(1), .head_limit = std::chrono::milliseconds(50)});
  Caller stranger(port_), client(port_);
  client.Send("POST", kHost, Legacy("1", "ping"));
  EXPECT_THAT(client.HearUntil("}}"), StartsWith("HTTP/1.1 200"));
  EXPECT_EQ(stranger.HearUntil("never"), "");
  client.Send("POST", kHost, Legacy("2", "ping"));
  EXPECT_THAT(client.HearUntil("}}"), StartsWith("HTTP/1.1 200"));
}

TEST_F(Http, AClientThatAsksForNothingMoreIsForgotten) {
  Start({.idle_limit = std::chrono::milliseconds(50)});
  Caller caller(port_);
  caller.Send("POST", kHost, Legacy("1", "ping"));
  EXPECT_THAT(caller.HearUntil("never"), StartsWith("HTTP/1.1 200"));
}

TEST_F(Http, SilentStrangersMakeRoomForClients) {
  Start({.token = "secret", .most_connections = 2});
  const std::string token = std::string(kHost) + "Authorization: Bearer secret\r\n";
  Caller client(port_);
  client.Send("POST", token, Legacy("1", "ping"));
  EXPECT_THAT(client.HearUntil("}}"), StartsWith("HTTP/1.1 200"));
  Caller silent(port_), half(port_);
  half.SendBytes("POST /mcp HTTP/1.1\r\n");
  EXPECT_EQ(silent.HearUntil("never"), "");
  Caller other(port_);
  other.Send("POST", token, Legacy("2", "ping"));
  EXPECT_THAT(other.HearUntil("}}"), StartsWith("HTTP/1.1 200"));
  EXPECT_EQ(half.HearUntil("never"), "");
  client.Send("POST", token, Legacy("3", "ping"));
  EXPECT_THAT(client.HearUntil("}}"), StartsWith("HTTP/1.1 200"));
}

TEST_F(Http, AClientThatDoesNotReadIsGivenUp) {
  Start({.write_limit = std::chrono::milliseconds(50)});
  Caller caller(port_);
  // More answers than the kernel holds for it.
  const std::string call = Modern("1", "tools/call", R"("name":"big")");
  std::string all;
  for (int i = 0; i < 100; ++i) {
    all += "POST /mcp HTTP/1.1\r\n" + ModernHeaders("tools/call", "big") +
           "Content-Length: " + std::to_string(call.size()) + "\r\n\r\n" + call;
  }
  caller.SendBytes(all);
  caller.WaitUntilDropped();
}

TEST_F(Http, AnswersThatNobodyReadsHoldOtherCallsBack) {
  core_ = std::make_shared<ServerCore>(loop_.get_executor(), service_,
                                       ServerOptions{.most_answer_bytes = 1});
  const TempDir directory = TempDir::Make("/tmp").value();
  const UnixSocket socket{directory.path() + "/socket"};
  Start({.address = socket});
  const std::string call = Modern("1", "tools/call", R"("name":"big")");
  // More than the kernel holds for it.
  Caller deaf(socket), other(socket);
  deaf.Send("POST", ModernHeaders("tools/call", "big"), call);
  WaitFor([&] { return core_->backlog().bytes() > 600'000; });
  other.Send("POST", ModernHeaders("tools/call", "big"), call);
  WaitFor([&] { return core_->running() == 1; });
  EXPECT_TRUE(OnLoop([&] { return core_->backlog().bytes() < 1'000'000; }));
  deaf.HangUp();
  EXPECT_THAT(other.HearUntil("serverInfo"), AllOf(StartsWith("HTTP/1.1 200"), HasSubstr("xxxx")));
}

TEST_F(Http, AHeadThatIsTooLongIsRefused) {
  Start({.longest_head = 1000});
  EXPECT_THAT(Post(std::string(kHost) + "X: " + std::string(1000, 'x') + "\r\n", "{}"),
              StartsWith("HTTP/1.1 431"));
}

TEST_F(Http, WhatIsNotHttpIsRefused) {
  Start();
  for (const char* bytes : {"\x16\x03\x01 nonsense\r\n\r\n", "POST /mcp\r\n\r\n",
                            "POST /mcp HTTP/1.1\r\nno colon\r\n\r\n"}) {
    Caller caller(port_);
    caller.SendBytes(bytes);
    EXPECT_THAT(caller.HearUntil("never"), StartsWith("HTTP/1.1 400")) << bytes;
  }
  Caller old(port_);
  old.SendBytes("POST /mcp HTTP/1.0\r\n" + std::string(kHost) + "Content-Length: 0\r\n\r\n");
  EXPECT_THAT(old.HearUntil("never"), StartsWith("HTTP/1.1 505"));
}

TEST_F(Http, ABodyIsAskedForWhereAClientWaitsForIt) {
  Start();
  Caller caller(port_);
  const std::string ping = Legacy("1", "ping");
  caller.SendBytes("POST /mcp HTTP/1.1\r\n" + std::string(kHost) + "Expect: 100-continue\r\n" +
                   "Content-Length: " + std::to_string(ping.size()) + "\r\n\r\n");
  EXPECT_THAT(caller.HearUntil("\r\n\r\n"), StartsWith("HTTP/1.1 100"));
  caller.SendBytes(ping);
  EXPECT_THAT(caller.HearUntil("}"), StartsWith("HTTP/1.1 200"));
}

TEST_F(Http, AStreamWithoutNewsShowsThatItLives) {
  Start({.keep_alive = std::chrono::milliseconds(1)});
  Caller caller(port_);
  caller.Send("POST", ModernHeaders("subscriptions/listen"),
              Modern("7", "subscriptions/listen", R"("notifications":{"toolsListChanged":true})"));
  EXPECT_THAT(caller.HearUntil("}}}\n\n"),
              AllOf(HasSubstr("X-Accel-Buffering: no"), ::testing::Not(HasSubstr("\nid:"))));
  EXPECT_THAT(caller.HearUntil(": \n\n\r\n4\r\n: \n\n"), HasSubstr(": \n\n\r\n4\r\n: \n\n"));
}

TEST_F(Http, StreamsAndConnectionsAreBounded) {
  Start({.most_connections = 2, .most_streams = 1});
  const std::string listen =
      Modern("7", "subscriptions/listen", R"("notifications":{"toolsListChanged":true})");
  Caller first(port_), second(port_);
  first.Send("POST", ModernHeaders("subscriptions/listen"), listen);
  first.HearUntil("}}}\n\n");
  second.Send("POST", ModernHeaders("subscriptions/listen"), listen);
  EXPECT_THAT(second.HearUntil("}}"),
              AllOf(StartsWith("HTTP/1.1 429"), HasSubstr("\"id\":7"), HasSubstr("-32000")));
  Caller third(port_);
  EXPECT_THAT(third.HearUntil("\r\n\r\n"), StartsWith("HTTP/1.1 503"));
  // Who leaves makes room.
  first.HangUp();
  std::string answer;
  do {
    second.Send("POST", ModernHeaders("subscriptions/listen"), listen);
    answer = second.HearUntil("}}");
  } while (answer.starts_with("HTTP/1.1 429"));
  EXPECT_THAT(answer, StartsWith("HTTP/1.1 200"));
}

TEST_F(Http, AUnixSocketNeedsNoTokenAndNoHost) {
  const TempDir directory = TempDir::Make("/tmp").value();
  const UnixSocket socket{directory.path() + "/socket"};
  Start({.address = socket});
  EXPECT_EQ(port_, 0);
  Caller caller(socket);
  caller.Send("POST", std::string("Host: whatever\r\n") + kJson, Legacy("1", "ping"));
  EXPECT_THAT(caller.HearUntil("}}"), StartsWith("HTTP/1.1 200"));
  Caller page(socket);
  page.Send("POST", std::string(kHost) + "Origin: http://evil.example\r\n", Legacy("1", "ping"));
  EXPECT_THAT(page.HearUntil("\r\n\r\n"), StartsWith("HTTP/1.1 403"));
  boost::asio::post(loop_, [this] { server_->Stop(); });
  EXPECT_EQ(caller.HearUntil("never"), "") << "hung up";
  EXPECT_FALSE(std::filesystem::exists(socket.path));
}

TEST(HttpServer, WhoOthersCanReachNeedsAToken) {
  testing::FakeService service;
  boost::asio::io_context loop;
  const auto core = std::make_shared<ServerCore>(loop.get_executor(), service);
  for (const char* host : {"0.0.0.0", "::"}) {
    HttpServer open(loop, core, {.address = TcpAddress{.host = host}});
    const auto refused = open.Listen();
    ASSERT_FALSE(refused) << host;
    EXPECT_EQ(refused.error().code, Errc::kInvalidArgument);
    EXPECT_THAT(refused.error().hint, HasSubstr("token"));
    HttpServer closed(loop, core, {.address = TcpAddress{.host = host}, .token = "secret"});
    EXPECT_TRUE(closed.Listen()) << host;
  }
}

}  // namespace
}  // namespace igloo::mcp
