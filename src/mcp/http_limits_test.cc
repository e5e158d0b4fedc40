#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/temp_dir.h"
#include "mcp/http_testing.h"

namespace igloo::mcp {
namespace {

using http::testing::Caller;
using ::testing::AllOf;
using ::testing::HasSubstr;
using testing::kHost;
using testing::Legacy;
using testing::Modern;
using testing::ModernHeaders;
using ::testing::StartsWith;

/// What a client may take of a server: room and time.
class HttpLimits : public testing::Http {};

TEST_F(HttpLimits, ABodyThatIsTooLongIsRefused) {
  Start({.limits = {.longest_body = 1000}});
  EXPECT_THAT(Post(kHost, std::string(1001, ' ')), StartsWith("HTTP/1.1 413"));
}

TEST_F(HttpLimits, WhoSendsABodyThatIsTooLongToItsEndHearsThatAllTheSame) {
  Start();
  EXPECT_THAT(Post(kHost, std::string(6U << 20, ' ')),
              AllOf(StartsWith("HTTP/1.1 413"), HasSubstr("send less at once")));
}

TEST_F(HttpLimits, AStrangersBodyIsNotWaitedFor) {
  Start({.token = "secret"});
  Caller caller(port_);
  caller.SendBytes("POST /mcp HTTP/1.1\r\n" + std::string(kHost) +
                   "Content-Length: 1000000\r\n\r\n");
  EXPECT_THAT(caller.HearUntil("never"),
              AllOf(StartsWith("HTTP/1.1 401"), HasSubstr("Connection: close")));
}

TEST_F(HttpLimits, AHeadThatTricklesInIsCutOff) {
  Start({.limits = {.longest_head = 64U << 20, .head_time = std::chrono::milliseconds(50)}});
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

TEST_F(HttpLimits, ABodyThatDoesNotComeIsGivenUp) {
  Start({.limits = {.body_time = std::chrono::milliseconds(50)}});
  Caller caller(port_);
  caller.SendBytes("POST /mcp HTTP/1.1\r\n" + std::string(kHost) + "Content-Length: 10\r\n\r\n{");
  EXPECT_THAT(caller.HearUntil("never"), StartsWith("HTTP/1.1 408"));
}

TEST_F(HttpLimits, WhoSaysNothingIsForgotten) {
  // A client may be silent between its requests, for longer than one that never asked for anything.
  Start(
      {.limits = {.idle_time = std::chrono::hours(1), .head_time = std::chrono::milliseconds(50)}});
  Caller stranger(port_), client(port_);
  client.Send("POST", kHost, Legacy("1", "ping"));
  EXPECT_THAT(client.HearUntil("}}"), StartsWith("HTTP/1.1 200"));
  EXPECT_EQ(stranger.HearUntil("never"), "");
  client.Send("POST", kHost, Legacy("2", "ping"));
  EXPECT_THAT(client.HearUntil("}}"), StartsWith("HTTP/1.1 200"));
}

TEST_F(HttpLimits, AClientThatAsksForNothingMoreIsForgotten) {
  Start({.limits = {.idle_time = std::chrono::milliseconds(50)}});
  Caller caller(port_);
  caller.Send("POST", kHost, Legacy("1", "ping"));
  EXPECT_THAT(caller.HearUntil("never"), StartsWith("HTTP/1.1 200"));
}

TEST_F(HttpLimits, SilentStrangersMakeRoomForClients) {
  Start({.token = "secret", .limits = {.most_connections = 2}});
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

TEST_F(HttpLimits, AClientThatDoesNotReadIsGivenUp) {
  Start({.limits = {.write_time = std::chrono::milliseconds(50)}});
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

TEST_F(HttpLimits, AnswersThatNobodyReadsHoldOtherCallsBack) {
  core_ = std::make_shared<ServerCore>(loop_.get_executor(), service_,
                                       ServerOptions{.most_answer_bytes = 1});
  const TempDir directory = TempDir::Make("/tmp").value();
  const http::UnixSocket socket{directory.path() + "/socket"};
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

TEST_F(HttpLimits, AHeadThatIsTooLongIsRefused) {
  Start({.limits = {.longest_head = 1000}});
  EXPECT_THAT(Post(std::string(kHost) + "X: " + std::string(1000, 'x') + "\r\n", "{}"),
              StartsWith("HTTP/1.1 431"));
}

TEST_F(HttpLimits, StreamsAndConnectionsAreBounded) {
  Start({.limits = {.most_connections = 2}, .most_streams = 1});
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

}  // namespace
}  // namespace igloo::mcp
