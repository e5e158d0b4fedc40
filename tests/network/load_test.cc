// Many at once.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>

#include <thread>

#include "proxy.h"
#include "support/host.h"

namespace igloo::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

/// Opens `count` tunnels at once, keeps all of them, then asks each for an echo.
constexpr const char* kMany = R"(
import asyncio, sys
port, count = int(sys.argv[1]), int(sys.argv[2])

async def one(opened, everyone):
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(b"CONNECT example.com:7 HTTP/1.1\r\n\r\n")
    await reader.readuntil(b"\r\n\r\n")
    assert await reader.readline() == b"hello\n"
    opened.append(1)
    if len(opened) == count: everyone.set()
    await everyone.wait()
    writer.write(b"ping\n")
    line = await reader.readline()
    writer.close()
    return line == b"ping\n"

async def main():
    opened, everyone = [], asyncio.Event()
    print(sum(await asyncio.gather(*[one(opened, everyone) for _ in range(count)])))

asyncio.run(main())
)";

TEST(Load, AThousandTunnelsAtOnce) {
  Proxy proxy;
  proxy.Add({"example.com:7"});
  const Outcome outcome = World::Get().inside().RunHere(
      {"/usr/bin/python3", "-c", kMany, std::to_string(proxy.port()), "1000"});
  EXPECT_EQ(outcome.out, "1000\n") << outcome.err;
  // They leave nothing behind: what stays open is what was open before, and a few pipes.
  EXPECT_TRUE(WaitFor([&] { return CountDescriptors(proxy.pid()) < 200; }))
      << CountDescriptors(proxy.pid());
}

TEST(Load, ConnectionsBeyondTheLimitWaitForTheirTurn) {
  Proxy proxy;
  proxy.Add({"example.com"}, network::Tier::kAllow, {}, 4);
  const Outcome outcome = World::Get().inside().RunHere(
      {"/bin/sh", "-c",
       "for i in $(seq 20); do curl -sS --max-time 25 -o /dev/null -w '%{http_code}\n' --proxy " +
           proxy.url() + " http://example.com/ & done; wait"});
  std::string expected;
  for (int i = 0; i < 20; ++i) expected += "200\n";
  EXPECT_EQ(outcome.out, expected) << outcome.err;
}

TEST(Load, ASlowReaderHoldsUpNobodyAndNoMemory) {
  Proxy proxy;
  proxy.Add({"example.com"});
  const UniqueFd slow = proxy.Connect();
  Send(slow.get(), "GET http://example.com/big/200000000 HTTP/1.1\r\nHost: example.com\r\n\r\n");
  EXPECT_EQ(ReadUntil(slow.get(), 1000).size(), 1000U);
  // While it does not read on, others are served, and the rest of its answer stays at the server.
  for (int i = 0; i < 3; ++i)
    EXPECT_THAT(proxy.Curl({"http://example.com/"}).out, HasSubstr("\"at\""));
  EXPECT_EQ(ReadUntil(slow.get(), 30'000'000).size(), 30'000'000U) << "it goes on where it stopped";
}

std::size_t CountRefused(std::string_view answers) {
  constexpr std::string_view kRefused = "HTTP/1.1 403";
  std::size_t count = 0;
  for (std::size_t at = 0; (at = answers.find(kRefused, at)) != answers.npos; ++at) ++count;
  return count;
}

/// Reads answers until none has come for a moment; how many there were.
std::size_t AnswersUntilStuck(int fd) {
  constexpr int kAMomentMs = 500;
  std::string answers;
  char buffer[65536];
  pollfd more{fd, POLLIN, 0};
  while (::poll(&more, 1, kAMomentMs) == 1) {
    const ssize_t got = ::recv(fd, buffer, sizeof buffer, 0);
    if (got <= 0) break;
    answers.append(buffer, static_cast<std::size_t>(got));
  }
  return CountRefused(answers);
}

/// Nobody is told of less because somebody asks for more: who floods waits for igloo.
TEST(Load, AFloodOfRefusalsIsHeldAndNotOneIsLost) {
  constexpr std::size_t kRequests = 8000;
  Proxy proxy;
  proxy.Add({"example.com"});
  std::uint16_t port_of_other = 0;
  const UniqueFd listener_of_other = World::Get().inside().Listen(port_of_other);
  ASSERT_EQ(proxy.Order(network::AddSandbox{.sandbox = "other"}, {listener_of_other.get()}), "");

  const std::string request = "GET http://no.example/ HTTP/1.1\r\nHost: no.example\r\n\r\n";
  const UniqueFd flood = proxy.Connect();
  std::jthread sender([&] {
    for (std::size_t i = 0; i < kRequests; ++i) Send(flood.get(), request);
    ::shutdown(flood.get(), SHUT_WR);
  });
  // While igloo takes nothing.
  const std::size_t answered = AnswersUntilStuck(flood.get());
  EXPECT_GT(answered, 0U);
  EXPECT_LT(answered, kRequests);
  const UniqueFd other = proxy.ConnectTo(port_of_other);
  Send(other.get(), request);
  EXPECT_THAT(ReadUntil(other.get(), 12), StartsWith("HTTP/1.1 403")) << "others are not held";

  std::size_t rest = 0;
  std::jthread reader([&] { rest = CountRefused(ReadUntil(flood.get())); });
  std::size_t recorded = 0;
  std::uint64_t lost = 0;
  for (bool other_seen = false; recorded < kRequests || !other_seen;) {
    const network::Record refusal = proxy.WaitForRefusal();
    if (refusal.sandbox == "box") ++recorded;
    if (refusal.sandbox == "other") other_seen = true;
    lost += refusal.lost;
  }
  reader.join();
  EXPECT_EQ(answered + rest, kRequests);
  EXPECT_EQ(lost, 0U);
}

/// Who is held must not hold what ends it.
TEST(Load, ASandboxThatIsHeldCanBeTakenAway) {
  Proxy proxy;
  proxy.Add({"example.com"});
  const UniqueFd flood = proxy.Connect();
  std::jthread sender([&] {
    for (int i = 0; i < 8000; ++i)
      Send(flood.get(), "GET http://no.example/ HTTP/1.1\r\nHost: no.example\r\n\r\n");
  });
  const std::size_t answered = AnswersUntilStuck(flood.get());
  EXPECT_EQ(proxy.Order(network::RemoveSandbox{"box"}), "");
  // All that was answered was told before; of the rest nothing was decided.
  EXPECT_GE(proxy.ToldRefusals().size(), answered);
  EXPECT_THAT(ReadUntil(flood.get()), Not(HasSubstr("HTTP/1.1 200")));
  EXPECT_EQ(proxy.Abandon(), 0);
}

}  // namespace
}  // namespace igloo::testing
