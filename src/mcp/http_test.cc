#include "mcp/http.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "base/temp_dir.h"
#include "mcp/http_testing.h"

namespace igloo::mcp {
namespace {

using http::testing::Caller;
using ::testing::AllOf;
using ::testing::HasSubstr;
using testing::Http;
using testing::kHost;
using testing::kJson;
using testing::Legacy;
using testing::Modern;
using testing::ModernHeaders;
using ::testing::StartsWith;

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

TEST_F(Http, WhatCannotBeReadIsAnsweredToItsOwnId) {
  Start();
  const std::string broken = R"({"method":"ping","params":{"x":NaN},"jsonrpc":"2.0","id":5})";
  for (const std::string& headers : {std::string(kHost), ModernHeaders("ping")}) {
    EXPECT_THAT(Post(headers, broken), AllOf(StartsWith("HTTP/1.1 400"), HasSubstr("\"id\":5")));
  }
  EXPECT_THAT(Post(ModernHeaders("tools/call", "echo"),
                   Modern("5", "tools/call", R"("name":"echo","arguments":{"text":"\ud800"})")),
              AllOf(StartsWith("HTTP/1.1 200"), HasSubstr("\"id\":5"), HasSubstr("\ufffd")));
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

TEST_F(Http, EveryAnswerTellsBrowsersWhatTheyMustNotDo) {
  Start({.token = "secret"});
  const std::string token = "Authorization: Bearer secret\r\n";
  const auto guarded = AllOf(
      HasSubstr("\r\nX-Content-Type-Options: nosniff\r\n"),
      HasSubstr("\r\nContent-Security-Policy: default-src 'none'; frame-ancestors 'none'\r\n"),
      HasSubstr("\r\nReferrer-Policy: no-referrer\r\n"),
      HasSubstr("\r\nCache-Control: no-store\r\n"));
  EXPECT_THAT(Post(kHost + token, Legacy("1", "ping")), AllOf(StartsWith("HTTP/1.1 200"), guarded));
  EXPECT_THAT(Post(ModernHeaders("tools/call", "steps") + token,
                   Modern("1", "tools/call", R"("name":"steps")")),
              AllOf(HasSubstr("text/event-stream"), guarded));
  EXPECT_THAT(Post(kHost, ""), AllOf(StartsWith("HTTP/1.1 401"), guarded));
  EXPECT_THAT(Post("Host: evil.example\r\n", ""), AllOf(StartsWith("HTTP/1.1 403"), guarded));
  EXPECT_THAT(Post(kHost + token, "{"), AllOf(StartsWith("HTTP/1.1 400"), guarded));
  Caller caller(port_);
  caller.SendBytes("nonsense\r\n\r\n");
  EXPECT_THAT(caller.HearUntil("never"), AllOf(StartsWith("HTTP/1.1 400"), guarded));
}

/// Two principals, each with a service and a core of its own.
class HttpPrincipals : public Http {
 protected:
  HttpPrincipals() {
    server_ = std::make_unique<HttpServer>(
        loop_, std::vector<HttpPrincipal>{{"token-of-alice", core_}, {"token-of-bob", other_core_}},
        HttpOptions{});
    port_ = server_->Listen().value();
    boost::asio::co_spawn(loop_, server_->Serve(), boost::asio::detached);
    thread_ = std::jthread([this] { loop_.run(); });
  }
  static std::string As(std::string_view token) {
    return "Authorization: Bearer " + std::string(token) + "\r\n";
  }
  /// The id of a new session of the protocol.
  std::string Begin(std::string_view token) {
    const std::string said = Post(
        kHost + As(token),
        Legacy(
            "1", "initialize",
            R"({"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}})"));
    constexpr std::string_view kHeader = "Mcp-Session-Id: ";
    const std::size_t at = said.find(kHeader);
    EXPECT_NE(at, std::string::npos) << said;
    return said.substr(at + kHeader.size(), said.find('\r', at) - at - kHeader.size());
  }

  testing::FakeService other_service_ = {};
  std::shared_ptr<ServerCore> other_core_ =
      std::make_shared<ServerCore>(loop_.get_executor(), other_service_);
};

TEST_F(HttpPrincipals, EachIsServedByItsOwn) {
  service_.more_tools = {"of-alice"};
  other_service_.more_tools = {"of-bob"};
  const std::string list = Legacy("1", "tools/list");
  EXPECT_THAT(Post(kHost + As("token-of-alice"), list),
              AllOf(HasSubstr("of-alice"), ::testing::Not(HasSubstr("of-bob"))));
  EXPECT_THAT(Post(kHost + As("token-of-bob"), list),
              AllOf(HasSubstr("of-bob"), ::testing::Not(HasSubstr("of-alice"))));
  EXPECT_THAT(Post(kHost + As("token-of-carol"), list), StartsWith("HTTP/1.1 401"));
  EXPECT_THAT(Post(kHost, list), StartsWith("HTTP/1.1 401"));
}

TEST_F(HttpPrincipals, ASessionBelongsToTheTokenThatBeganIt) {
  const std::string id = "Mcp-Session-Id: " + Begin("token-of-alice") + "\r\n";
  const std::string ping = Legacy("2", "ping");
  const auto stop = [&](std::string_view token) {
    Caller caller(port_);
    caller.Send("DELETE", kHost + As(token) + id + "Connection: close\r\n", "");
    return caller.HearUntil("never");
  };
  EXPECT_THAT(Post(kHost + As("token-of-bob") + id, ping), StartsWith("HTTP/1.1 404"));
  EXPECT_THAT(stop("token-of-bob"), StartsWith("HTTP/1.1 404"));
  EXPECT_THAT(Post(kHost + As("token-of-alice") + id, ping), StartsWith("HTTP/1.1 200"))
      << "control: it lives, and its own principal may use it";
  EXPECT_THAT(stop("token-of-alice"), StartsWith("HTTP/1.1 200")) << "control";
}

TEST_F(HttpPrincipals, EveryRequestOfAConnectionIsItsOwnPrincipals) {
  service_.more_tools = {"of-alice"};
  Caller caller(port_);
  caller.Send("POST", kHost + As("token-of-alice"), Legacy("1", "tools/list"));
  EXPECT_THAT(caller.HearUntil("\"id\":1"), ::testing::Not(HasSubstr("HTTP/1.1 4")));
  caller.Send("POST", kHost + As("token-of-bob"), Legacy("2", "tools/list"));
  EXPECT_THAT(caller.HearUntil("\"id\":2"), ::testing::Not(HasSubstr("of-alice")));
}

TEST(HttpPrincipalsAlone, NobodyIsOneOfSeveralWithoutAToken) {
  testing::FakeService service;
  boost::asio::io_context loop;
  const auto core = std::make_shared<ServerCore>(loop.get_executor(), service);
  HttpServer server(loop, {{"", core}, {"token-of-bob", core}}, HttpOptions{});
  const auto listening = server.Listen();
  ASSERT_FALSE(listening);
  EXPECT_NE(listening.error().hint, "");
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

TEST_F(Http, AHeaderOfTheProtocolIsThereOnce) {
  Start();
  const std::string list = Modern("1", "tools/list");
  EXPECT_THAT(Post(ModernHeaders("tools/list"), list), StartsWith("HTTP/1.1 200")) << "control";
  for (const std::string& again :
       {std::string("mcp-protocol-version: 2026-07-28\r\n"),
        std::string("Mcp-Method: tools/list\r\n"), std::string("Mcp-Name: \r\n"),
        std::string("Mcp-Session-Id: a\r\nMcp-Session-Id: a\r\n")}) {
    EXPECT_THAT(Post(ModernHeaders("tools/list") + again, list),
                AllOf(StartsWith("HTTP/1.1 400"), HasSubstr("is there twice")))
        << again;
  }
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

TEST_F(Http, AUnixSocketNeedsNoTokenAndNoHost) {
  const TempDir directory = TempDir::Make("/tmp").value();
  const http::UnixSocket socket{directory.path() + "/socket"};
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
    HttpServer open(loop, core, {.address = http::TcpAddress{.host = host}});
    const auto refused = open.Listen();
    ASSERT_FALSE(refused) << host;
    EXPECT_EQ(refused.error().code, Errc::kInvalidArgument);
    EXPECT_THAT(refused.error().hint, HasSubstr("token"));
    HttpServer closed(loop, core, {.address = http::TcpAddress{.host = host}, .token = "secret"});
    EXPECT_TRUE(closed.Listen()) << host;
  }
}

}  // namespace
}  // namespace igloo::mcp
