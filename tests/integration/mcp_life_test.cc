// How a server comes and goes, and what it leaves: nothing.

#include <gmock/gmock.h>
#include <signal.h>

#include <filesystem>

#include "support/configured.h"
#include "support/host.h"
#include "support/mcp.h"

namespace igloo::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

/// Begins `count` runs that do not end by themselves; returns when all of them run.
void Fill(McpClient& client, const std::string& marker, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    client.Send("tools/call", {{"name", "run"},
                               {"arguments", JsonObject{{"env", "shell"},
                                                        {"code", "trap '' INT TERM HUP; exec -a " +
                                                                     marker + " sleep 1000"}}}});
  }
}

std::size_t ProgramsThatWait(pid_t server) {
  std::size_t count = 0;
  for (const ProcessInfo& each : DescendantsOf(server)) {
    if (each.name == "bash" && each.state == 'S') ++count;
  }
  return count;
}

TEST(McpLife, EndsWithItsClientAndLeavesNothing) {
  const std::string marker = UniqueMarker();
  McpClient client;
  client.Initialize();
  Fill(client, marker, 3);
  ASSERT_TRUE(WaitFor([&] { return FindMarked(marker).size() == 3; }));
  const auto family = DescendantsOf(client.running().pid());
  const Outcome outcome = client.running().Finish();
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  for (const ProcessInfo& each : family) {
    EXPECT_TRUE(WaitFor([&] { return IsGone(each.pid); })) << each.name;
  }
  EXPECT_THAT(FindMarked(marker), IsEmpty());
}

TEST(McpLife, ASignalEndsEverything) {
  for (const int signal : {SIGTERM, SIGINT, SIGKILL}) {
    const std::string marker = UniqueMarker();
    McpClient client;
    client.Initialize();
    // More than run at once: some wait in line.
    Fill(client, marker, 20);
    ASSERT_TRUE(WaitFor([&] { return FindMarked(marker).size() >= 4; }));
    const auto family = DescendantsOf(client.running().pid());
    client.running().Signal(signal);
    for (const ProcessInfo& each : family) {
      EXPECT_TRUE(WaitFor([&] { return IsGone(each.pid); })) << signal << " " << each.name;
    }
    EXPECT_THAT(FindMarked(marker), IsEmpty()) << signal;
    EXPECT_EQ(client.running().Finish().status, signal == SIGKILL ? 137 : 0) << signal;
  }
}

TEST(McpLife, ServesOnWhenItsLauncherIsKilled) {
  McpClient client;
  client.Initialize();
  EXPECT_THAT(TextOf(client.Run("shell", "echo one")), StartsWith("one\n"));
  const auto family = DescendantsOf(client.running().pid());
  for (const ProcessInfo& each : ChildrenOf(client.running().pid())) ::kill(each.pid, SIGKILL);
  // A call may otherwise get a sandbox that still lives and is about to end.
  for (const ProcessInfo& each : family) {
    ASSERT_TRUE(WaitFor([&] { return IsGone(each.pid); })) << each.name;
  }
  EXPECT_THAT(TextOf(client.Run("shell", "echo two")), StartsWith("two\n"));
  EXPECT_THAT(TextOf(client.Run("shell", "echo three")), StartsWith("three\n"));
}

TEST(McpLife, RunsCodeOnceWhateverBecomesOfTheProgramThatWaitedForIt) {
  McpClient client;
  client.Initialize();
  for (int i = 0; i < 3; ++i) (void)client.Run("shell", "true");
  ASSERT_TRUE(WaitFor([&] { return ProgramsThatWait(client.running().pid()) > 0; }));
  for (const ProcessInfo& each : DescendantsOf(client.running().pid())) ::kill(each.pid, SIGKILL);
  // They all vanish before the code comes, or while it does.
  EXPECT_THAT(TextOf(client.Run("shell", "echo two")), StartsWith("two\n"));
}

TEST(McpLife, TwentyAtOnceAnswerTheirProbes) {
  std::vector<std::unique_ptr<McpClient>> clients;
  for (int i = 0; i < 20; ++i) clients.push_back(std::make_unique<McpClient>());
  std::vector<std::int64_t> ids;
  for (auto& client : clients) {
    ids.push_back(client->Send("server/discover", {{"_meta", ModernMeta()}}));
  }
  for (std::size_t i = 0; i < clients.size(); ++i) {
    const JsonObject answer = clients[i]->Wait(ids[i]);
    EXPECT_TRUE(answer.contains("result"));
    EXPECT_EQ(clients[i]->running().Finish().status, 0);
  }
}

class McpProbe : public Configured {};

TEST_F(McpProbe, WritesNothingAndStartsNothing) {
  const auto before = SnapshotOf(Path(""));
  McpClient client({.env = {"PATH=/usr/bin:/bin", "HOME=" + Path("")}});
  client.Initialize();
  EXPECT_TRUE(client.Ask("tools/list").contains("result"));
  EXPECT_THAT(ChildrenOf(client.running().pid()), IsEmpty()) << "no launcher before the first run";
  EXPECT_EQ(client.running().Finish().status, 0);
  EXPECT_EQ(SnapshotOf(Path("")), before);
}

TEST_F(McpProbe, WritesCallsDownAndNotTheCode) {
  McpClient client({.env = {"PATH=/usr/bin:/bin", "HOME=" + Path("")}});
  client.Initialize();
  client.Run("shell", "echo secret-word; exit 3");
  client.Run("nowhere", "x");
  client.Run("echo other-word", "shell");  // models mix them up
  EXPECT_EQ(client.running().Finish().status, 0);
  const std::string lines = Read(".local/state/igloo/runs.jsonl");
  EXPECT_THAT(lines, HasSubstr(R"("verdict":"exit")"));
  EXPECT_THAT(lines, HasSubstr(R"("client":"test)"));
  EXPECT_THAT(lines, HasSubstr(R"("verdict":"refused")"));
  EXPECT_THAT(lines, HasSubstr(R"("environment":"unknown")"));
  EXPECT_THAT(lines, ::testing::Not(HasSubstr("secret-word")));
  EXPECT_THAT(lines, ::testing::Not(HasSubstr("other-word")));
  const Outcome log = Run({"log"});
  EXPECT_THAT(log.out, HasSubstr("shell"));
  Write(kUsual, "[audit]\ncode = true\n");
  McpClient keeping({.env = {"PATH=/usr/bin:/bin", "HOME=" + Path("")}});
  keeping.Initialize();
  keeping.Run("shell", "echo secret-word");
  EXPECT_EQ(keeping.running().Finish().status, 0);
  EXPECT_THAT(Read(".local/state/igloo/runs.jsonl"), HasSubstr("secret-word"));
}

TEST_F(McpProbe, AHomeThatIsNotThereIsNotMade) {
  McpClient client({.env = {"PATH=/usr/bin:/bin", "HOME=" + Path("missing")}});
  client.Initialize();
  client.Run("shell", "true");
  EXPECT_TRUE(client.running().WaitForErrors("calls are not written down"));
  EXPECT_EQ(client.running().Finish().status, 0);
  EXPECT_FALSE(std::filesystem::exists(Path("missing")));
}

TEST_F(McpProbe, NeedsNothingButAHomeAndAPath) {
  McpClient client({.env = {"PATH=/usr/bin:/bin", "HOME=" + Path("")}});
  client.Initialize();
  EXPECT_THAT(TextOf(client.Run("python", "print(1)")), StartsWith("1\n"));
  McpClient bare({.env = {}});
  bare.Initialize();
  EXPECT_THAT(TextOf(bare.Run("shell", "echo 1")), StartsWith("1\n"));
}

TEST(McpLife, WrongWordsAreAnswered) {
  EXPECT_THAT(Igloo({"mcp", "--http", "nowhere"}).err, HasSubstr("hint:"));
  EXPECT_THAT(Igloo({"mcp", "--tools", "none"}).err, HasSubstr("hint:"));
  EXPECT_THAT(Igloo({"mcp", "--no-token"}).err, HasSubstr("--http"));
}

}  // namespace
}  // namespace igloo::testing
