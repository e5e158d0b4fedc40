#include "http/server.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <future>
#include <thread>

#include "http/pch.h"
#include "http/testing.h"

namespace igloo::http {
namespace {

namespace asio = boost::asio;
using ::testing::AllOf;
using testing::Caller;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

/// A user of the room that is no MCP: what it answers is chosen by path.
class Paths : public Handler {
 public:
  std::optional<Response> Refuse(const Head& head) override {
    ++heads;
    if (head.path() == "/closed") return Response{.status = 401};
    return {};
  }
  asio::awaitable<void> Serve(Request request, Responder& responder) override {
    const std::string_view path = request.head.path();
    if (path == "/events") co_return co_await Count(responder);
    if (path == "/echo") co_return co_await Echo(responder);
    if (path == "/wait") co_return co_await Wait(request.head, responder);
    if (path == "/nothing") co_return;
    Response response{.body = request.head.method + " " + request.head.target + " " + request.body,
                      .type = "text/plain"};
    response.fields.Add("X-Accept", std::string(request.head.fields.Get("accept")));
    co_await responder.Reply(std::move(response));
  }
  Response Explain(const Failure& failure) override {
    return {.status = failure.status, .body = "why: " + failure.message, .type = "text/plain"};
  }

  int heads = 0, waiting = 0, gone = 0;

 private:
  static asio::awaitable<void> Count(Responder& responder) {
    for (const char* data : {"1", "", "2"}) {
      Event event{.name = "count", .data = data, .last = *data == '2'};
      co_await responder.Send(std::move(event));
    }
  }
  /// Another protocol: what comes goes back, until the client ends it.
  static asio::awaitable<void> Echo(Responder& responder) {
    Fields fields{{"Upgrade", "echo"}};
    auto upgraded = co_await responder.Upgrade(std::move(fields));
    if (!upgraded) co_return;
    std::string bytes = std::move(upgraded->ahead);
    while (!bytes.empty()) {
      std::vector<std::string> parts(1, bytes);
      co_await upgraded->transport->Write(parts);
      bytes.resize(100);
      const std::size_t count = co_await upgraded->transport->Read(bytes);
      bytes.resize(count);
    }
  }
  asio::awaitable<void> Wait(const Head& head, Responder& responder) {
    asio::steady_timer timer(co_await asio::this_coro::executor);
    timer.expires_at(asio::steady_timer::time_point::max());
    const auto hook = responder.gone().OnRequest([&] {
      ++gone;
      timer.cancel();
    });
    if (head.fields.Count("Watch") != 0) responder.WatchForHangUp();
    ++waiting;
    boost::system::error_code ignored;
    auto token = asio::redirect_error(asio::use_awaitable, ignored);
    co_await timer.async_wait(token);
    --waiting;
  }
};

class HttpServerTest : public ::testing::Test {
 protected:
  void Start(Options options = {}) {
    server_ = std::make_unique<Server>(loop_, handler_, options);
    port_ = server_->Listen().value();
    asio::co_spawn(loop_, server_->Serve(), asio::detached);
    thread_ = std::jthread([this] { loop_.run(); });
  }
  void Stop() {
    asio::post(loop_, [this] { server_->Stop(); });
    thread_.join();  // nothing may keep the loop busy
  }
  void TearDown() override {
    if (thread_.joinable()) Stop();
  }
  std::string Ask(std::string_view line, std::string_view fields = "", std::string_view body = "") {
    Caller caller(port_);
    caller.SendBytes(std::string(line) + " HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n" +
                     std::string(fields) + "Content-Length: " + std::to_string(body.size()) +
                     "\r\n\r\n" + std::string(body));
    return caller.HearUntil("never");
  }
  /// Asks the server's thread, until it is so.
  void WaitFor(const std::function<bool()>& what) {
    for (bool is = false; !is;) {
      std::promise<bool> answer;
      asio::post(loop_, [&] { answer.set_value(what()); });
      is = answer.get_future().get();
    }
  }

  asio::io_context loop_ = {};
  std::shared_ptr<Paths> handler_ = std::make_shared<Paths>();
  std::unique_ptr<Server> server_ = {};
  std::uint16_t port_ = 0;
  std::jthread thread_ = {};
};

constexpr char kUpgrade[] =
    "GET /echo HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n";

TEST_F(HttpServerTest, AHandlerSeesTheWholeRequestAndAnswersAsItLikes) {
  Start();
  EXPECT_THAT(Ask("PUT /any/thing?a=1", "Accept: text/html\r\n", "body"),
              AllOf(StartsWith("HTTP/1.1 200"), HasSubstr("\r\nX-Accept: text/html\r\n"),
                    HasSubstr("\r\nContent-Type: text/plain\r\n"),
                    EndsWith("\r\n\r\nPUT /any/thing?a=1 body")));
}

TEST_F(HttpServerTest, EventsAreAStreamThatEndsWithTheLastOne) {
  Start();
  EXPECT_THAT(
      Ask("GET /events"),
      AllOf(HasSubstr("text/event-stream"), HasSubstr("event: count\ndata: 1\n\n"),
            HasSubstr("\r\n: \n\n\r\n"), EndsWith("event: count\ndata: 2\n\n\r\n0\r\n\r\n")));
}

TEST_F(HttpServerTest, WhoIsRefusedIsAskedForNoBody) {
  Start();
  Caller caller(port_);
  caller.SendBytes("PUT /closed HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000\r\n\r\n");
  EXPECT_THAT(caller.HearUntil("never"),
              AllOf(StartsWith("HTTP/1.1 401"), HasSubstr("Connection: close")));
}

TEST_F(HttpServerTest, OtherHostsAndPagesNeverReachTheHandler) {
  Start();
  const std::string foreign = "GET / HTTP/1.1\r\nHost: evil.example\r\n\r\n";
  const std::string page =
      "GET /echo HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: echo\r\n"
      "Origin: http://evil.example\r\n\r\n";
  for (const std::string& request : {foreign, page}) {
    Caller caller(port_);
    caller.SendBytes(request);
    EXPECT_THAT(caller.HearUntil("never"),
                AllOf(StartsWith("HTTP/1.1 403"), HasSubstr("why: this host or origin")));
  }
  Stop();
  EXPECT_EQ(handler_->heads, 0);
}

TEST_F(HttpServerTest, ARequestWithoutAnAnswerEndsItsConnection) {
  Start();
  EXPECT_EQ(Ask("GET /nothing"), "");
}

TEST_F(HttpServerTest, AnUpgradedConnectionIsItsHandlersWithWhatWasSentAhead) {
  Start();
  Caller caller(port_);
  caller.SendBytes(std::string(kUpgrade) + "ahead");
  EXPECT_THAT(caller.HearUntil("ahead"),
              AllOf(StartsWith("HTTP/1.1 101"), HasSubstr("\r\nConnection: Upgrade\r\n"),
                    HasSubstr("\r\nUpgrade: echo\r\n"), Not(HasSubstr("Content-Length")),
                    EndsWith("\r\n\r\nahead")));
  caller.SendBytes("GET / HTTP/1.1\r\n\r\n");
  EXPECT_EQ(caller.HearUntil("\r\n\r\n"), "GET / HTTP/1.1\r\n\r\n") << "not HTTP any more";
  caller.CloseSending();
  EXPECT_EQ(caller.HearUntil("never"), "");
}

TEST_F(HttpServerTest, AnUpgradedConnectionIsClosedWithTheServer) {
  Start();
  Caller caller(port_);
  caller.SendBytes(std::string(kUpgrade) + "ahead");
  caller.HearUntil("ahead");
  Stop();
  EXPECT_EQ(caller.HearUntil("never"), "");
}

TEST_F(HttpServerTest, OnlyWhoWatchesHearsOfAHangUp) {
  Start();
  const std::string begin = "GET /wait HTTP/1.1\r\nHost: localhost\r\n";
  Caller other(port_), watched(port_);
  other.SendBytes(begin + "\r\n");
  watched.SendBytes(begin + "Watch: yes\r\n\r\n");
  WaitFor([&] { return handler_->waiting == 2; });
  other.HangUp();
  watched.HangUp();
  WaitFor([&] { return handler_->gone == 1; });
  EXPECT_EQ(Ask("GET /nothing"), "") << "whatever was on its way is there now";
  WaitFor([&] { return handler_->waiting == 1; });
  Stop();
  EXPECT_EQ(handler_->gone, 2) << "the server's end is heard by all";
}

TEST_F(HttpServerTest, ABodyIsAskedForWithAnyMethod) {
  Start();
  Caller caller(port_);
  caller.SendBytes(
      "PUT / HTTP/1.1\r\nHost: localhost\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n");
  EXPECT_THAT(caller.HearUntil("\r\n\r\n"), StartsWith("HTTP/1.1 100"));
  caller.SendBytes("hi");
  EXPECT_THAT(caller.HearUntil("hi"), EndsWith("PUT / hi"));
}

TEST_F(HttpServerTest, ItsLimitsAreItsUsers) {
  Start({.limits = {.longest_body = 3}, .single_fields = {"X-One"}});
  EXPECT_THAT(Ask("PUT /", "", "123"), StartsWith("HTTP/1.1 200")) << "control";
  EXPECT_THAT(Ask("PUT /", "", "1234"), AllOf(StartsWith("HTTP/1.1 413"), HasSubstr("why: ")));
  EXPECT_THAT(Ask("GET /", "X-One: 1\r\n"), StartsWith("HTTP/1.1 200")) << "control";
  EXPECT_THAT(Ask("GET /", "X-One: 1\r\nx-one: 2\r\n"), StartsWith("HTTP/1.1 400"));
}

}  // namespace
}  // namespace igloo::http
