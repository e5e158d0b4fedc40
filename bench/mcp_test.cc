#include "bench/mcp.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include "bench/mcp_client.h"
#include "bench/mcp_load.h"

namespace igloo::bench {
namespace {

TEST(ReadAnswer, KnowsResultsFromErrorsAndFromAllElse) {
  const auto fine = ReadAnswer(R"({"jsonrpc":"2.0","id":"a","result":{"isError":false}})");
  ASSERT_TRUE(fine);
  EXPECT_EQ(fine->id, "\"a\"");
  EXPECT_TRUE(fine->fine);
  for (const char* line : {R"({"id":7,"result":{"isError":true}})",
                           R"({"id":7,"error":{"code":-32000,"message":"busy"}})"}) {
    const auto failed = ReadAnswer(line);
    ASSERT_TRUE(failed) << line;
    EXPECT_EQ(failed->id, "7");
    EXPECT_FALSE(failed->fine) << line;
  }
  for (const char* line : {"", "nonsense", "[]", R"({"method":"notifications/progress"})",
                           R"({"id":1,"method":"ping"})"}) {
    EXPECT_FALSE(ReadAnswer(line)) << line;
  }
}

TEST(McpRequest, IsOneLineThatNamesItsEra) {
  const std::string request = McpRequest("1", "tools/call", R"("name":"run")");
  EXPECT_EQ(request, R"({"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"_meta":{)"
                     R"("io.modelcontextprotocol/protocolVersion":"2026-07-28",)"
                     R"("io.modelcontextprotocol/clientCapabilities":{}},"name":"run"}})");
}

TEST(McpClient, SpeaksInLinesAndSaysHowAServerEnded) {
  auto client = McpClient::Start({{"/bin/sh", "-c", "cat; echo 'it broke' >&2; exit 1"}});
  ASSERT_TRUE(client) << client.error().what;
  EXPECT_EQ(client->Ask("a"), "a");
  ASSERT_TRUE(client->Send("b\nc"));
  EXPECT_EQ(client->Hear(), "b");
  EXPECT_EQ(client->Hear(), "c");
  auto broken = McpClient::Start({{"/bin/sh", "-c", "echo 'it broke' >&2; exit 1"}});
  ASSERT_TRUE(broken);
  const auto nothing = broken->Hear();
  ASSERT_FALSE(nothing);
  EXPECT_EQ(nothing.error().what, "it broke");
}

TEST(MemoryOf, APeakCountsAnewWhenItIsForgotten) {
  constexpr std::size_t kLarge = 64U << 20;
  void* large = ::mmap(nullptr, kLarge, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
  ASSERT_NE(large, MAP_FAILED);
  ASSERT_EQ(::munmap(large, kLarge), 0);
  const auto before = MemoryOf(::getpid());
  ASSERT_TRUE(before) << before.error().what;
  EXPECT_GT(before->share, 0);
  ASSERT_TRUE(ForgetPeak(::getpid()));
  const auto after = MemoryOf(::getpid());
  ASSERT_TRUE(after);
  EXPECT_LT(after->peak, before->peak);
}

}  // namespace
}  // namespace igloo::bench
