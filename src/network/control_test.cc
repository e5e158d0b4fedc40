#include "network/control.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include "base/file.h"
#include "network/channel.h"

namespace igloo::network {
namespace {

using ::testing::HasSubstr;

AddSandbox Sandbox() {
  return {.sandbox = "s1",
          .tier = Tier::kInternet,
          .rules = {"example.com", "10.0.0.0/8:443"},
          .secrets = {{.name = "KEY",
                       .value = "v \"quoted\"",
                       .placeholder = *NewPlaceholder("KEY"),
                       .domain = *Name::Parse("api.example.com"),
                       .headers = {"X-Key", "X-Other"}}},
          .max_connections = 7};
}

TEST(Orders, AreReadAsTheyWereWritten) {
  for (const Command& command : std::vector<Command>{
           Sandbox(), ReplaceRules{"s1", Tier::kAllow, {}},
           AddForward{AddForward::Kind::kPublish, "s1", 8080},
           AddForward{AddForward::Kind::kReach, "s1", 5432}, RemoveSandbox{"s1"}}) {
    const std::string text = Encode(Order{17, command});
    const auto order = DecodeOrder(text);
    ASSERT_TRUE(order) << order.error().what << text;
    EXPECT_EQ(order->number, 17U);
    EXPECT_EQ(Encode(*order), text);
    EXPECT_EQ(order->command.index(), command.index());
  }
}

TEST(Orders, ThatAreNotExactlyOneAreRefused) {
  for (const char* text :
       {"", "[]", "{}", "null", "{\"version\":1}",
        R"({"version":2,"number":1,"do":"remove","sandbox":"s"})",
        R"({"version":1,"number":1,"do":"open","sandbox":"s"})",
        R"({"version":1,"number":1,"do":"remove","sandbox":""})",
        R"({"version":1,"number":1,"do":"remove","sandbox":"s","more":1})",
        R"({"version":1,"number":-1,"do":"remove","sandbox":"s"})",
        R"({"version":1,"number":1.5,"do":"remove","sandbox":"s"})",
        R"({"version":1,"number":1,"do":"reach","sandbox":"s","port":0})",
        R"({"version":1,"number":1,"do":"reach","sandbox":"s","port":65536})",
        R"({"version":1,"number":1,"do":"rules","sandbox":"s","tier":"host","rules":[]})",
        R"({"version":1,"number":1,"do":"rules","sandbox":"s","tier":"allow","rules":[1]})",
        R"({"version":1,"number":1,"do":"rules","sandbox":"s","tier":"allow","rules":"*"})",
        R"({"version":1,"number":1,"do":"remove","sandbox":[[[[[1]]]]]})"}) {
    const auto order = DecodeOrder(text);
    ASSERT_FALSE(order) << text;
    EXPECT_EQ(order.error().code, Errc::kProtocol) << text;
  }
  AddSandbox evil = Sandbox();
  evil.secrets[0].value = "a\r\nX: y";
  EXPECT_FALSE(DecodeOrder(Encode(Order{1, evil})));
  AddSandbox anywhere = Sandbox();
  anywhere.secrets[0].headers.clear();
  EXPECT_FALSE(DecodeOrder(Encode(Order{1, anywhere}))) << "the proxy itself refuses it, too";
}

TEST(News, IsReadAsItWasWritten) {
  const Record record{.event = Record::Event::kEnded,
                      .protocol = Record::Protocol::kSocks,
                      .sandbox = "s1",
                      .connection = 3,
                      .time_ms = 1'700'000'000'123,
                      .host = "example.com",
                      .port = 443,
                      .address = "1.2.3.4",
                      .method = "GET",
                      .path = "/a",
                      .rule = "example.com",
                      .refusal = "no",
                      .remedy = "yes",
                      .secrets = {"KEY"},
                      .bytes_out = 1,
                      .bytes_in = UINT64_MAX,
                      .lost = 4};
  const auto news = DecodeNews(Encode(News(record)));
  ASSERT_TRUE(news) << news.error().what;
  ASSERT_EQ(news->size(), 1U);
  EXPECT_EQ(std::get<Record>(news->front()), record);
  for (const News& each : std::vector<News>{Ready{}, Done{5}, Failed{6, "what", "hint"}}) {
    const auto decoded = DecodeNews(Encode(each));
    ASSERT_TRUE(decoded) << decoded.error().what;
    EXPECT_EQ(Encode(decoded->front()), Encode(each));
  }
  EXPECT_FALSE(DecodeNews(R"({"say":"ready","version":9})"));
  EXPECT_FALSE(DecodeNews(R"({"say":"hello"})"));
}

TEST(Packets, CarryTextOfAnyLengthAndDescriptors) {
  const auto pair = MakeSocketPair(SOCK_SEQPACKET);
  ASSERT_TRUE(pair);
  const auto pipe = MakePipe();
  ASSERT_TRUE(pipe);
  for (const std::size_t size : {0UL, 1UL, 60'000UL, 61'440UL, 61'441UL, 4'000'000UL}) {
    const std::string text(size, 'x');
    const auto sent = SendPacket(pair->first.get(), text, {pipe->first.get(), pipe->second.get()});
    ASSERT_TRUE(sent) << sent.error().what;
    const auto packet = ReceivePacket(pair->second.get());
    ASSERT_TRUE(packet && *packet) << size;
    EXPECT_EQ((*packet)->text, text);
    ASSERT_EQ((*packet)->descriptors.size(), 2U);
    struct stat ours{}, theirs{};
    ::fstat(pipe->second.get(), &ours);
    ::fstat((*packet)->descriptors[1].get(), &theirs);
    EXPECT_EQ(ours.st_ino, theirs.st_ino);
  }
  EXPECT_FALSE(SendPacket(pair->first.get(), std::string(kLongestMessage + 1, 'x'), {}));
}

TEST(Packets, OfNoKnownKindAreRefused) {
  const auto pair = MakeSocketPair(SOCK_SEQPACKET);
  ASSERT_TRUE(pair);
  for (const std::string_view bytes : {"X", "F", "Fx"}) {
    ASSERT_EQ(::send(pair->first.get(), bytes.data(), bytes.size(), 0),
              static_cast<ssize_t>(bytes.size()));
    EXPECT_FALSE(ReceivePacket(pair->second.get())) << bytes;
  }
}

}  // namespace
}  // namespace igloo::network
