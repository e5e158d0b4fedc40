// Many at once.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "proxy.h"
#include "support/host.h"

namespace igloo::testing {
namespace {

using ::testing::HasSubstr;

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

}  // namespace
}  // namespace igloo::testing
