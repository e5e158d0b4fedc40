// Ports that lead from one side's loopback to the other's.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include "proxy.h"

namespace igloo::testing {
namespace {

using network::AddForward;
using ::testing::HasSubstr;

/// Python's web server, on loopback of wherever it is started; it serves this test's directory.
std::unique_ptr<Running> StartServer(std::uint16_t port) {
  auto server = std::make_unique<Running>(
      Invocation{.program = "/usr/bin/python3",
                 .args = {"-u", "-m", "http.server", "--bind", "127.0.0.1", "--directory",
                          BinDirectory(), std::to_string(port)}});
  EXPECT_TRUE(server->WaitForOutput("Serving HTTP")) << server->errors();
  return server;
}

UniqueFd ListenOutside(std::uint16_t& port) {
  UniqueFd fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  EXPECT_EQ(::bind(fd.get(), reinterpret_cast<sockaddr*>(&address), size), 0);
  EXPECT_EQ(::listen(fd.get(), 128), 0);
  ::getsockname(fd.get(), reinterpret_cast<sockaddr*>(&address), &size);
  port = ntohs(address.sin_port);
  return fd;
}

Outcome CurlOutside(const std::string& url, std::vector<std::string> more = {}) {
  std::vector<std::string> words = {"-sS", "--max-time", "20"};
  words.insert(words.end(), more.begin(), more.end());
  words.push_back(url);
  return RunProgram({.program = "/usr/bin/curl", .args = words});
}

TEST(Publish, ReachesAServerInsideThroughSocketsThatWereMadeThere) {
  Proxy proxy;
  proxy.Add({});
  Namespace& inside = World::Get().inside();
  std::unique_ptr<Running> server;
  inside.Run([&] { server = StartServer(9000); });
  std::uint16_t port = 0;
  const UniqueFd listener = ListenOutside(port);
  const UniqueFd one = inside.NewSocket(), two = inside.NewSocket();
  ASSERT_EQ(proxy.Order(AddForward{AddForward::Kind::kPublish, "box", 9000},
                        {listener.get(), one.get(), two.get()}),
            "");
  const std::string url = "http://127.0.0.1:" + std::to_string(port) + "/network-servers.py";
  // Far more connections than sockets, one after the other.
  for (int i = 0; i < 12; ++i) EXPECT_THAT(CurlOutside(url).out, HasSubstr("QUERY")) << i;
  // Clients that go away in the middle cost no socket.
  for (int i = 0; i < 6; ++i) {
    CurlOutside("http://127.0.0.1:" + std::to_string(port) + "/igloo-proxy",
                {"--range", "0-9999999", "--max-filesize", "1"});
  }
  EXPECT_THAT(CurlOutside(url).out, HasSubstr("QUERY"));
  // More at once than sockets: the others wait.
  const Outcome many =
      RunProgram({.program = "/bin/sh",
                  .args = {"-c", "for i in 1 2 3 4 5 6 7 8; do curl -sS --max-time 20 " + url +
                                     " >/dev/null && echo ok & done; wait"}});
  EXPECT_EQ(many.out, "ok\nok\nok\nok\nok\nok\nok\nok\n") << many.err;
  const auto record = proxy.WaitForRecord([](const network::Record& each) {
    return each.protocol == network::Record::Protocol::kPublish &&
           each.event == network::Record::Event::kEnded;
  });
  EXPECT_GT(record.bytes_in, 0U);
  inside.Run([&] { server.reset(); });
  EXPECT_NE(CurlOutside(url).status, 0) << "nobody listens inside any more";
  inside.Run([&] { server = StartServer(9000); });
  EXPECT_THAT(CurlOutside(url).out, HasSubstr("QUERY")) << "and again";
  inside.Run([&] { server.reset(); });
}

TEST(Reach, LeadsToOnePortOfTheHostsLoopbackAndNoOther) {
  Proxy proxy;
  proxy.Add({});
  const auto service = StartServer(9100), other = StartServer(9101);
  Namespace& inside = World::Get().inside();
  std::uint16_t port = 0;
  UniqueFd listener = inside.Listen(port);
  ASSERT_EQ(proxy.Order(AddForward{AddForward::Kind::kReach, "box", 9100}, {listener.get()}), "");
  const std::string url = "http://127.0.0.1:" + std::to_string(port) + "/network-servers.py";
  for (int i = 0; i < 5; ++i) {
    EXPECT_THAT(inside.RunHere({"/usr/bin/curl", "-sS", "--max-time", "20", url}).out,
                HasSubstr("QUERY"));
  }
  EXPECT_THAT(proxy.Curl({"http://127.0.0.1:9101/"}).out, HasSubstr("loopback"));
  EXPECT_NE(
      inside.RunHere({"/usr/bin/curl", "-sS", "--max-time", "20", "http://127.0.0.1:9100/"}).status,
      0);
  EXPECT_EQ(proxy.Order(network::RemoveSandbox{"box"}), "");
  listener.Reset();
  EXPECT_NE(inside.RunHere({"/usr/bin/curl", "-sS", "--max-time", "20", url}).status, 0);
}

TEST(Forward, TakesOnlySocketsOfTheRightKind) {
  Proxy proxy;
  proxy.Add({});
  std::uint16_t port = 0;
  const UniqueFd listener = ListenOutside(port), socket = World::Get().inside().NewSocket();
  const UniqueFd datagram(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  const AddForward publish{AddForward::Kind::kPublish, "box", 80};
  EXPECT_THAT(proxy.Order(publish, {}), HasSubstr("without"));
  EXPECT_THAT(proxy.Order(publish, {listener.get()}), HasSubstr("without"));
  EXPECT_THAT(proxy.Order(publish, {socket.get(), socket.get()}), HasSubstr("without"));
  EXPECT_THAT(proxy.Order(publish, {listener.get(), datagram.get()}), HasSubstr("wrong kind"));
  EXPECT_THAT(proxy.Order(publish, {listener.get(), listener.get()}), HasSubstr("wrong kind"));
}

}  // namespace
}  // namespace igloo::testing
